/** Settings of echo: a client hears what it sent. */
import { declareKind } from '../declare-filter.ts';

export interface EchoFilter {
  readonly kind: 'echo';
}

export const ECHO_DECLARATION = declareKind<EchoFilter>();
