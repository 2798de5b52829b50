/** Settings of direct_response: every client is sent a text, and the connection ends. */
import { declareKind } from '../declare-filter.ts';

export interface DirectResponse {
  readonly kind: 'direct_response';
  /** A byte string: one character per byte. */
  readonly response: string;
}

export const DIRECT_RESPONSE_DECLARATION = declareKind<DirectResponse>();
