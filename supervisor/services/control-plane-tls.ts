/**
 * TLS with the hosts of a cluster that the supervisor itself speaks to: the cluster's transport
 * socket as workers apply it (certificates, server name, checks of the peer), over a socket that is
 * there.
 */
import type { Socket } from 'node:net';
import type tls from 'node:tls';
import type { UpstreamTls } from '../../shared/resources/tls.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { TLS } from '../../shared/stats/templates/tls.ts';
import type { CompleteTls } from '../../shared/tls/complete-tls.ts';
import { NO_VALIDATION, PeerCheck } from '../../shared/tls/peer-check.ts';
import { nodeTls, SecureContexts } from '../../shared/tls/secure-contexts.ts';
import { PeerRefusedError } from '../../shared/tls/tls-errors.ts';

/**
 * Makes a connected socket a secure one. Rejects when the handshake fails or the peer is refused.
 */
export type Secure = (socket: Socket) => Promise<Socket>;

/** Parts of the runtime's TLS sockets that its types leave out. */
interface InnerTlsSocket {
  readonly ssl: { verifyError(): NodeJS.ErrnoException | null } | null;
}

export class ControlPlaneTls {
  readonly #config: UpstreamTls;
  readonly #stats: StatWriter;
  readonly #base: number;
  readonly #contexts: SecureContexts;
  readonly #check: PeerCheck;

  /** `owner` is such as `cluster.control.`. Throws when OpenSSL does not take the configuration. */
  constructor(
    { config, ...complete }: CompleteTls & { readonly config: UpstreamTls },
    stats: StatWriter,
    owner: string,
  ) {
    this.#config = config;
    this.#stats = stats;
    this.#check = new PeerCheck(complete.validation ?? NO_VALIDATION);
    this.#contexts = new SecureContexts({ tls: config, ...complete });
    this.#base = stats.defineBlock(TLS, `${owner}ssl.`);
  }

  release(): void {
    this.#stats.releaseBlock(this.#base);
  }

  /** `hostname` is the host's own; `protocol` is offered where the configuration offers none. */
  secure(socket: Socket, hostname: string, protocol: 'h2' | 'http/1.1'): Promise<Socket> {
    const { autoHostServerName, serverName, alpn } = this.#config;
    const name = autoHostServerName && hostname !== '' ? hostname : serverName;
    const secured = nodeTls().connect({
      socket,
      secureContext: this.#contexts.first,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      ALPNProtocols: alpn.length === 0 ? [protocol] : [...alpn],
      ...(name === '' ? {} : { servername: name }),
    });
    return new Promise((resolve, reject) => {
      secured.once('error', (error) => {
        this.#count('connection_error');
        reject(error);
      });
      secured.once('close', () => reject(new Error('the connection was closed in the handshake')));
      secured.once('secureConnect', () => {
        const refusal = this.#judge(secured, name);
        if (refusal === undefined) return resolve(secured);
        reject(refusal);
        secured.destroy();
      });
    });
  }

  #judge(socket: tls.TLSSocket, serverName: string): Error | undefined {
    const peer = socket.getPeerX509Certificate();
    if (peer === undefined) return new Error('the control plane showed no certificate');
    const verifyError = (socket as unknown as InnerTlsSocket).ssl?.verifyError();
    const expected =
      this.#config.autoSanValidation && serverName !== '' ? { instead: serverName } : {};
    const refusal = this.#check.judge(peer, verifyError, expected);
    this.#count(refusal === undefined ? 'handshake' : refusal.stat);
    if (refusal === undefined || this.#check.acceptsUntrusted) return undefined;
    return new PeerRefusedError(refusal.detail);
  }

  #count(name: keyof typeof TLS.index): void {
    this.#stats.increment(this.#base + TLS.index[name]);
  }
}
