/** The failure to bind or listen, in the words that users of Envoy know. */
import { printAddress } from '../../shared/addresses/print-address.ts';
import { errorText } from '../../shared/text/error-text.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';

/** `message` is such as `cannot bind '127.0.0.1:80': Permission denied`. */
export class BindError extends Error {
  readonly code = 'bind_failed';
  /** The errno name, such as `EADDRINUSE`, when the system refused. */
  readonly errnoName: string | undefined;

  constructor(verb: 'bind' | 'listen on', address: BoundAddress, cause: unknown) {
    const reason = errorText(cause);
    super(`cannot ${verb} '${printAddress(address)}': ${reason}`, { cause });
    this.name = 'BindError';
    const { code } = cause as { readonly code?: unknown };
    this.errnoName = typeof code === 'string' ? code : undefined;
  }
}
