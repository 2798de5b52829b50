/** Where JSON text is not JSON, and how Envoy words it. */
import type { JsonFault } from './source-node.ts';

export const NO_MORE = 'unexpected EOF';
export const TOO_MUCH = 'extraneous characters after end of JSON object';

/** What Envoy says where it is not the message itself. */
export interface FailureForm {
  readonly words?: string | undefined;
  readonly isValueStart?: boolean;
}

export class JsonSyntaxError extends Error {
  readonly offset: number;
  readonly json: JsonFault;

  constructor(message: string, offset: number, json: JsonFault) {
    super(message);
    this.offset = offset;
    this.json = json;
  }
}
