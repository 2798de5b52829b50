/**
 * What hosts say of their load in the headers of responses: `endpoint-load-metrics` with `TEXT`,
 * `JSON` or `BIN` in front, or `endpoint-load-metrics-bin`. Source:
 * xds.data.orca.v3.OrcaLoadReport.
 */
import type { HeaderMap } from '../../stream/header-map.ts';

/**
 * Requests and errors in a second and how much is in use (above 1: too much), by the names of the
 * message.
 */
export type LoadReport = ReadonlyMap<string, number>;

const HEADER = 'endpoint-load-metrics';
const BINARY_HEADER = 'endpoint-load-metrics-bin';

/** How much of the host is in use: the most of these figures, else what it says in general. */
export function utilizationOf(report: LoadReport, metricNames: readonly string[]): number {
  const named = metricNames.reduce((most, name) => Math.max(most, report.get(name) ?? 0), 0);
  if (named > 0) return named;
  const application = report.get('application_utilization') ?? 0;
  return application > 0 ? application : (report.get('cpu_utilization') ?? 0);
}

/** Undefined without a report, or with one that cannot be read. */
export function readLoadReport(headers: HeaderMap): LoadReport | undefined {
  const binary = headers.get(BINARY_HEADER);
  if (binary !== undefined) return readBinary(binary);
  const value = headers.get(HEADER);
  if (value === undefined) return undefined;
  const [format = '', rest = ''] = splitOnce(value.trim(), / /);
  switch (format) {
    case 'TEXT':
      return readText(rest);
    case 'JSON':
      return readJson(rest);
    case 'BIN':
      return readBinary(rest);
    default:
      return undefined;
  }
}

/** `name=value` or `name:value`, parted by commas. */
function readText(text: string): LoadReport | undefined {
  const figures = new Map<string, number>();
  for (const part of text.split(',')) {
    const pair = part.trim();
    if (pair === '') continue;
    const [name = '', value = ''] = splitOnce(pair, /[=:]/);
    const number = Number(value);
    if (value.trim() === '' || !Number.isFinite(number) || number < 0) return undefined;
    if (figures.has(name) || !(isFigure(name) || isNamed(name, NAMED_IN_TEXT))) return undefined;
    figures.set(name, number);
  }
  return figures;
}

function readJson(text: string): LoadReport | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof message !== 'object' || message === null) return undefined;
  const figures = new Map<string, number>();
  for (const [name, value] of Object.entries(message)) {
    const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (NAMED.includes(field)) {
      for (const [key, each] of Object.entries(value as object)) {
        figures.set(`${field}.${key}`, Number(each));
      }
    } else if (isFigure(field) || field === 'rps') {
      figures.set(field, Number(value));
    } else {
      return undefined;
    }
  }
  return [...figures.values()].every(Number.isFinite) ? figures : undefined;
}

/** Figures by the numbers of their fields. */
const DOUBLES: Readonly<Record<number, string>> = {
  1: 'cpu_utilization',
  2: 'mem_utilization',
  6: 'rps_fractional',
  7: 'eps',
  9: 'application_utilization',
};
/** Maps of names to figures, likewise. */
const MAPS: Readonly<Record<number, string>> = {
  4: 'request_cost',
  5: 'utilization',
  8: 'named_metrics',
};
const NAMED = Object.values(MAPS);
const NAMED_IN_TEXT = ['utilization', 'named_metrics'];
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;

function isFigure(name: string): boolean {
  return Object.values(DOUBLES).includes(name);
}

function isNamed(name: string, maps: readonly string[]): boolean {
  const [map = '', key = ''] = splitOnce(name, /\./);
  return maps.includes(map) && key !== '';
}

function readBinary(text: string): LoadReport | undefined {
  return readReportMessage(Buffer.from(text, 'base64'));
}

/** Undefined: the bytes are no such message. */
export function readReportMessage(bytes: Buffer): LoadReport | undefined {
  const figures = new Map<string, number>();
  const isWhole = readFields(bytes, {
    onDuplicate: (field, value) => {
      const name = DOUBLES[field];
      if (name !== undefined) figures.set(name, value);
    },
    onBytes: (field, entry) => {
      const map = MAPS[field];
      if (map === undefined) return;
      let key = '';
      let figure = 0;
      readFields(entry, {
        onDuplicate: (_, value) => void (figure = value),
        onBytes: (_, bytes) => void (key = bytes.toString('latin1')),
      });
      figures.set(`${map}.${key}`, figure);
    },
  });
  return isWhole ? figures : undefined;
}

interface FieldSink {
  onDuplicate(field: number, value: number): void;
  onBytes(field: number, bytes: Buffer): void;
}

/** False: the bytes are no such message, or a part of it is longer than 127 bytes. */
function readFields(bytes: Buffer, sink: FieldSink): boolean {
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at++] ?? 0;
    const [field, kind] = [tag >> 3, tag & 7];
    if (kind === FIXED64) {
      if (at + 8 > bytes.length) return false;
      sink.onDuplicate(field, bytes.readDoubleLE(at));
      at += 8;
    } else if (kind === VARINT) {
      while ((bytes[at++] ?? 0) > 0x7f);
    } else if (kind === BYTES) {
      const length = bytes[at++] ?? 0;
      if (length > 0x7f || at + length > bytes.length) return false;
      sink.onBytes(field, bytes.subarray(at, at + length));
      at += length;
    } else {
      return false;
    }
  }
  return true;
}

function splitOnce(text: string, by: RegExp): readonly string[] {
  const at = text.search(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
