/** go-control-plane's types decode every JSON page, unknown fields refused. */
import { outcomeOfGo, type Outcome } from './outcome.ts';

/** Strict decoding of every JSON page with go-control-plane's types. */
export function decodeWithGo(): Promise<Outcome> {
  return outcomeOfGo('go-control-plane types', 'go-control-plane');
}
