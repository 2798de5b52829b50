/** What functions of modules give. */
import type { Reply } from '../../../../shared/scripts/filter.ts';
import type { LocalReply } from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { addFields } from './script-headers.ts';

/** It threw. */
export const FAILED = Symbol('failed');

export const FAULT_REPLY: LocalReply = {
  status: 500,
  body: 'Internal Server Error',
  details: 'script_error',
};

const NOTHING = Buffer.alloc(0);

export function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && 'status' in value;
}

/** Undefined: the body stays as it is. */
export function bytesOf(value: unknown): Buffer | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return Buffer.from(value);
  if (value instanceof Uint8Array) return Buffer.from(value);
  throw new TypeError('a body is a string or bytes');
}

/** Throws for what cannot be an answer. */
export function localReply({ status, headers, body }: Reply): LocalReply {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`${String(status)} is no status of a response`);
  }
  const bytes = bytesOf(body) ?? NOTHING;
  // What cannot be a header is the module's error, here and not on the answer's way.
  addFields(new HeaderMap(), headers);
  return {
    status,
    body: bytes,
    details: 'script_response',
    modifyHeaders: (answer) => addFields(answer, headers),
  };
}
