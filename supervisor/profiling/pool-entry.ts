/**
 * The thread's side of a profile: source maps of megabytes are read to name its functions, which
 * would hold the supervisor's loop for a tenth of a second.
 */
import { readFileSync } from 'node:fs';
import type { CpuProfile, HeapProfile } from '../../shared/profiling/process-profiler.ts';
import { yieldToTraffic } from '../../shared/process/yield-to-traffic.ts';
import { writeCpuProfile, writeHeapProfile } from './pprof-writer.ts';
import type { HeapProfileOptions, ProcessProfile } from './pprof-writer.ts';

/** A profile that its process wrote into a file, as JSON. */
export interface ProfileFile {
  /** `worker 0`, … */
  readonly process: string;
  readonly path: string;
}

interface Profiles<Kind> {
  readonly own: Kind;
  readonly others: readonly ProfileFile[];
}

export type ProfileTask =
  | (Profiles<CpuProfile> & { readonly kind: 'cpu' })
  | (Profiles<HeapProfile> & { readonly kind: 'heap'; readonly options: HeapProfileOptions });

yieldToTraffic();

/** A gzipped pprof profile. */
// Piscina calls the default export of the file that it is given.
// oxlint-disable-next-line import/no-default-export
export default async function writeProfile(task: ProfileTask): Promise<Uint8Array> {
  return task.kind === 'cpu'
    ? await writeCpuProfile(allOf(task))
    : await writeHeapProfile(allOf(task), task.options);
}

function allOf<Kind>({ own, others }: Profiles<Kind>): ProcessProfile<Kind>[] {
  return [
    { process: 'supervisor', profile: own },
    ...others.map(({ process, path }) => ({
      process,
      profile: JSON.parse(readFileSync(path, 'utf8')) as Kind,
    })),
  ];
}
