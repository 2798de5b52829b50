/**
 * What hosts say of their load in the headers of responses: `endpoint-load-metrics` with `TEXT`, `JSON`
 * or `BIN` in front, or `endpoint-load-metrics-bin`. Source: xds.data.orca.v3.OrcaLoadReport.
 */
import type { HeaderMap } from '../http/header-map.ts';

export interface LoadReport {
  /** Requests and errors in a second. */
  readonly requests: number;
  readonly errors: number;
  /** How much of the host is in use; above 1: it is overloaded. */
  readonly utilization: number;
}

const HEADER = 'endpoint-load-metrics';
const BINARY_HEADER = 'endpoint-load-metrics-bin';

/** Numbers of the message by the names of its fields. */
type Figures = Map<string, number>;

/** Undefined without a report, or with one that cannot be read. */
export function readLoadReport(headers: HeaderMap): LoadReport | undefined {
  const figures = readFigures(headers);
  if (figures === undefined) return undefined;
  const application = figures.get('application_utilization') ?? 0;
  return {
    requests: figures.get('rps_fractional') ?? 0,
    errors: figures.get('eps') ?? 0,
    utilization: application > 0 ? application : (figures.get('cpu_utilization') ?? 0),
  };
}

function readFigures(headers: HeaderMap): Figures | undefined {
  const binary = headers.get(BINARY_HEADER);
  if (binary !== undefined) return readBinary(binary);
  const value = headers.get(HEADER);
  if (value === undefined) return undefined;
  const [format = '', rest = ''] = splitOnce(value.trim(), ' ');
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

function readText(text: string): Figures | undefined {
  const figures: Figures = new Map();
  for (const pair of text.split(',')) {
    const [name = '', value = ''] = splitOnce(pair.trim(), '=');
    const number = Number(value);
    if (value.trim() === '' || !Number.isFinite(number)) return undefined;
    figures.set(name.trim(), number);
  }
  return figures;
}

function readJson(text: string): Figures | undefined {
  const figures: Figures = new Map();
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof message !== 'object' || message === null) return undefined;
  for (const [name, value] of Object.entries(message)) {
    const field = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value === 'number') figures.set(field, value);
  }
  return figures;
}

/** Fields that are doubles, by number; the others are passed over. */
const DOUBLES: Readonly<Record<number, string>> = {
  1: 'cpu_utilization',
  6: 'rps_fractional',
  7: 'eps',
  9: 'application_utilization',
};
const [VARINT, FIXED64, BYTES] = [0, 1, 2];

function readBinary(text: string): Figures | undefined {
  const bytes = Buffer.from(text, 'base64');
  const figures: Figures = new Map();
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at++] ?? 0;
    const [field, kind] = [tag >> 3, tag & 7];
    if (kind === FIXED64) {
      if (at + 8 > bytes.length) return undefined;
      const name = DOUBLES[field];
      if (name !== undefined) figures.set(name, bytes.readDoubleLE(at));
      at += 8;
    } else if (kind === VARINT) {
      while ((bytes[at++] ?? 0) > 0x7f);
    } else if (kind === BYTES) {
      // Maps of names to numbers: an entry is shorter than 128 bytes, or the report cannot be read.
      const length = bytes[at++] ?? 0;
      if (length > 0x7f) return undefined;
      at += length;
    } else {
      return undefined;
    }
  }
  return figures;
}

function splitOnce(text: string, by: string): readonly string[] {
  const at = text.indexOf(by);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
