/**
 * The application protocols (ALPN, RFC 7301) of a server, and which of them a client is answered. A
 * client that names none of them goes on without one, as in Envoy; OpenSSL's way in the runtime is
 * an alert, so the client's first message is read before OpenSSL has it.
 */
import type { OfferedProtocols } from '../net/tls/tls-server-stream.ts';
import { readClientHello } from './client-hello.ts';

export class AnsweredProtocols {
  /** In the server's order, as TLS writes lists of them: each with its length before it. */
  readonly encoded: Buffer;
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    const bytes = names.map((name) => Buffer.from(name));
    this.encoded = Buffer.concat(bytes.flatMap((name) => [Buffer.of(name.length), name]));
    this.#names = new Set(bytes.map((name) => name.toString('latin1')));
  }

  readonly forClient = (firstBytes: Buffer): OfferedProtocols => {
    const result = readClientHello(firstBytes);
    if (result.kind === 'more') return 'more';
    // What is no first message is OpenSSL's to refuse.
    if (result.kind !== 'hello') return this.encoded;
    return result.hello.protocols.some((name) => this.#names.has(name)) ? this.encoded : 'none';
  };
}
