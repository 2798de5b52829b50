/**
 * Merges V8 profiles of several processes into one gzipped pprof profile. Each sample carries the
 * label `process`, so that `pprof -tagfocus` can take them apart again.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Function as PprofFunction, Line, Location, Profile } from 'pprof-format';
import { Label, Sample, StringTable, ValueType } from 'pprof-format';
import type { CpuProfile, HeapNode, HeapProfile } from '../../shared/profiling/process-profiler.ts';
import { SourceNames } from './source-names.ts';

type CallFrame = CpuProfile['nodes'][number]['callFrame'];

export interface ProcessProfile<Kind> {
  /** `supervisor`, `worker 0`, … */
  readonly process: string;
  readonly profile: Kind;
}

export interface HeapProfileOptions {
  /** What was sampled: what is in use, or all that was allocated. In use where it is absent. */
  readonly what?: 'inuse' | 'alloc';
  /** A remark for the profile's reader. */
  readonly comment?: string;
}

interface ProfileEnd {
  readonly durationNs: number;
  readonly comment?: string;
}

const compress = promisify(gzip);

/**
 * Counts samples and nanoseconds of processor time. Time in which the loop was idle is left out.
 */
export async function writeCpuProfile(
  profiles: readonly ProcessProfile<CpuProfile>[],
): Promise<Uint8Array> {
  const writer = new PprofWriter([
    ['sample', 'count'],
    ['cpu', 'nanoseconds'],
  ]);
  let longestNs = 0;
  for (const { process, profile } of profiles) {
    longestNs = Math.max(longestNs, (profile.endTime - profile.startTime) * 1000);
    addCpuSamples(writer, process, profile);
  }
  return await writer.finish({ durationNs: longestNs });
}

/** Counts objects and bytes that were sampled: those still in use, or all that were allocated. */
export async function writeHeapProfile(
  profiles: readonly ProcessProfile<HeapProfile>[],
  { what = 'inuse', comment }: HeapProfileOptions = {},
): Promise<Uint8Array> {
  const writer = new PprofWriter([
    [`${what}_objects`, 'count'],
    [`${what}_space`, 'bytes'],
  ]);
  for (const { process, profile } of profiles) addHeapSamples(writer, process, profile);
  return await writer.finish({ durationNs: 0, ...(comment === undefined ? {} : { comment }) });
}

function addCpuSamples(writer: PprofWriter, process: string, profile: CpuProfile): void {
  const stackOf = stackReader(profile);
  const spent = new Map<number, [number, number]>();
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const [count, ns] = spent.get(id) ?? [0, 0];
    spent.set(id, [count + 1, ns + Math.max(0, profile.timeDeltas?.[index] ?? 0) * 1000]);
  }
  for (const [id, values] of spent) {
    const stack = stackOf(id);
    if (stack[0]?.functionName !== '(idle)') writer.add(process, stack, values);
  }
}

/** Stacks of nodes, the innermost frame first, without V8's root. */
function stackReader(profile: CpuProfile): (id: number) => CallFrame[] {
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) parents.set(child, id);
  }
  return (id) => {
    const stack: CallFrame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame !== undefined && frame.functionName !== '(root)') stack.push(frame);
    }
    return stack;
  };
}

function addHeapSamples(writer: PprofWriter, process: string, profile: HeapProfile): void {
  const stacks = new Map<number, CallFrame[]>();
  const pending: { node: HeapNode; above: CallFrame[] }[] = [{ node: profile.head, above: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, above } = next;
    const isRoot = node.callFrame.functionName === '(root)';
    const stack = isRoot ? above : [node.callFrame, ...above];
    stacks.set(node.id, stack);
    for (const child of node.children) pending.push({ node: child, above: stack });
  }
  const spent = new Map<number, [number, number]>();
  for (const { nodeId, size } of profile.samples) {
    const [objects, bytes] = spent.get(nodeId) ?? [0, 0];
    spent.set(nodeId, [objects + 1, bytes + size]);
  }
  for (const [id, values] of spent) writer.add(process, stacks.get(id) ?? [], values);
}

class PprofWriter {
  readonly #strings = new StringTable();
  readonly #functions: PprofFunction[] = [];
  readonly #locations: Location[] = [];
  readonly #samples: Sample[] = [];
  readonly #locationIds = new Map<string, number>();
  readonly #names = new SourceNames();
  readonly #types: ValueType[];

  constructor(types: readonly (readonly [string, string])[]) {
    this.#types = types.map(
      ([type, unit]) =>
        new ValueType({ type: this.#strings.dedup(type), unit: this.#strings.dedup(unit) }),
    );
  }

  /** The innermost frame first. */
  add(process: string, stack: readonly CallFrame[], value: readonly number[]): void {
    const label = new Label({
      key: this.#strings.dedup('process'),
      str: this.#strings.dedup(process),
    });
    const locationId = stack.map((frame) => this.#locationOf(frame));
    this.#samples.push(new Sample({ locationId, value: [...value], label: [label] }));
  }

  async finish({ durationNs, comment }: ProfileEnd): Promise<Uint8Array> {
    const profile = new Profile({
      sampleType: this.#types,
      sample: this.#samples,
      location: this.#locations,
      function: this.#functions,
      stringTable: this.#strings,
      durationNanos: Math.round(durationNs),
      ...(comment === undefined ? {} : { comment: [this.#strings.dedup(comment)] }),
    });
    return await compress(await profile.encodeAsync());
  }

  #locationOf(frame: CallFrame): number {
    const key = `${frame.functionName}\n${frame.url}\n${frame.lineNumber}\n${frame.columnNumber}`;
    const known = this.#locationIds.get(key);
    if (known !== undefined) return known;
    const id = this.#locations.length + 1;
    const place = this.#names.resolve(frame.url, frame.lineNumber, frame.columnNumber);
    const name = this.#strings.dedup(frame.functionName || '(anonymous)');
    const filename = this.#strings.dedup(place.file);
    this.#functions.push(
      new PprofFunction({ id, name, systemName: name, filename, startLine: place.line }),
    );
    this.#locations.push(
      new Location({ id, line: [new Line({ functionId: id, line: place.line })] }),
    );
    this.#locationIds.set(key, id);
    return id;
  }
}
