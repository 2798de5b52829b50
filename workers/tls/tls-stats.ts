/** Where the handshakes of one listener or cluster count. */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { TLS, TLS_SOCKET_FACTORY } from '../../shared/stats/templates/tls.ts';

export interface HandshakeFacts {
  readonly version: string;
  readonly cipher: string;
  readonly group: string | undefined;
  readonly isReused: boolean;
  readonly hasPeerCertificate: boolean;
}

export class TlsStats {
  readonly #writer: StatWriter;
  readonly #prefix: string;
  /** Undefined before `open`. */
  #base: number | undefined;
  readonly #factoryBase: number;
  /** Indices of what appears by name. */
  readonly #named = new Map<string, number>();

  /** `owner` is such as `listener.<name>.`; `side` is what the process is in its handshakes. */
  constructor(writer: StatWriter, owner: string, side: 'client' | 'server') {
    this.#writer = writer;
    this.#prefix = `${owner}ssl.`;
    this.#factoryBase = writer.defineBlock(
      TLS_SOCKET_FACTORY,
      `${owner}${side}_ssl_socket_factory.`,
    );
  }

  /** The secrets are there: before that Envoy has no statistics of handshakes. */
  open(): void {
    this.#base ??= this.#writer.defineBlock(TLS, this.#prefix);
  }

  count(name: keyof typeof TLS.index): void {
    if (this.#base !== undefined) this.#writer.increment(this.#base + TLS.index[name]);
  }

  countFactory(index: number): void {
    this.#writer.increment(this.#factoryBase + index);
  }

  countHandshake(facts: HandshakeFacts): void {
    this.count('handshake');
    if (facts.isReused) this.count('session_reused');
    if (!facts.hasPeerCertificate) this.count('no_certificate');
    this.#countNamed(`ciphers.${facts.cipher}`);
    this.#countNamed(`versions.${facts.version}`);
    if (facts.group !== undefined) this.#countNamed(`curves.${facts.group}`);
  }

  release(): void {
    if (this.#base !== undefined) this.#writer.releaseBlock(this.#base);
    this.#writer.releaseBlock(this.#factoryBase);
  }

  #countNamed(name: string): void {
    let index = this.#named.get(name);
    if (index === undefined) {
      index = this.#writer.defineCounter(`${this.#prefix}${name}`);
      this.#named.set(name, index);
    }
    this.#writer.increment(index);
  }
}
