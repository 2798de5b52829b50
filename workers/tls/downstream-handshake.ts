/**
 * One client's handshake: who may pass, what is counted and logged of it. Client certificates are
 * judged when it is done, so that a refused client sees a close, not an alert.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { DownstreamTls } from '../../shared/resources/tls.ts';
import { isReadable } from '../../shared/tls/certificate-parts.ts';
import { PeerRefusedError, tlsErrorText } from '../../shared/tls/tls-errors.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import type { InnerContext, TlsHandle } from '../net/tls/runtime-tls.ts';
import type { ServerHandshake } from '../net/tls/tls-server-stream.ts';
import type { AnsweredProtocols } from './answered-protocols.ts';
import { HandshakeInfo, HandshakenHandle, type HandshakeSource } from './handshaken.ts';
import type { PresentMaterial } from './tls-material.ts';
import type { TlsStats } from './tls-stats.ts';

/** What all handshakes of a filter chain share until a secret changes. */
export interface HandshakeParts {
  readonly config: DownstreamTls;
  readonly material: PresentMaterial;
  /** Undefined: clients are answered none. */
  readonly protocols: AnsweredProtocols | undefined;
  readonly stats: TlsStats;
  readonly clock: Clock;
  /** For one handshake; undefined or 0: no limit of its own. */
  readonly timeoutMs: number | undefined;
  readonly onTimeout: () => void;
  /** Debug lines of component `connection`. */
  readonly log: (line: string) => void;
}

const MISSING_PEER = 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE';
const UNREADABLE = 'ERR_SSL_DECODE_ERROR';

export class DownstreamHandshake implements ServerHandshake {
  readonly info = new HandshakeInfo();
  readonly choose: ServerHandshake['choose'];
  readonly protocolsFor: ServerHandshake['protocolsFor'];
  readonly #parts: HandshakeParts;
  readonly #connection: ConnectionInfo;
  #timer: Timer | undefined = undefined;

  constructor(parts: HandshakeParts, connection: ConnectionInfo) {
    this.#parts = parts;
    this.#connection = connection;
    // A name that nothing was chosen by is not in the session, and missing when that is resumed.
    const needsName = parts.material.contexts.hasSeveral || parts.config.requireServerName;
    this.choose = needsName ? chooseContext(parts.material) : undefined;
    this.protocolsFor = parts.protocols?.forClient;
    connection.tls = this.info;
  }

  get context(): InnerContext {
    return this.#parts.material.contexts.first.context as InnerContext;
  }

  get asksPeer(): boolean {
    const { material, config } = this.#parts;
    return material.check !== undefined || config.requireClientCertificate;
  }

  /**
   * Only a missing certificate is OpenSSL's to refuse, and only where it makes a full handshake:
   * what a certificate is worth, and whether a resumed session has one, is judged afterwards.
   */
  get refusesMissingPeer(): boolean {
    const { material, config } = this.#parts;
    return config.requireClientCertificate || material.check?.needsPeer === true;
  }

  /** `close` is called when it takes too long. */
  limit(close: () => void): void {
    const { clock, timeoutMs, onTimeout } = this.#parts;
    if (timeoutMs === undefined || timeoutMs === 0) return;
    this.#timer = clock.after(timeoutMs, () => {
      onTimeout();
      close();
    });
  }

  onSecure(handle: TlsHandle): Error | undefined {
    const source = new HandshakenHandle(handle);
    return this.judge(source, handle.verifyError(), handle.getServername());
  }

  /** What of the handshake is wrong; `serverName` is no string where the client sent none. */
  judge(
    source: HandshakeSource,
    verifyError: NodeJS.ErrnoException | null | undefined,
    serverName: unknown,
  ): Error | undefined {
    this.onEnd();
    const { info } = this;
    const { material, config, stats, clock } = this.#parts;
    const { check, contexts } = material;
    info.complete(source, this.asksPeer, contexts.onlyCertificate);
    if (config.requireServerName && typeof serverName !== 'string') {
      stats.count('connection_error');
      return new Error('the client names no server');
    }
    const peer = info.peerCertificate;
    const isReused = source.isSessionReused();
    if (peer === undefined && this.refusesMissingPeer) return this.#refuse(MISSING_PEER);
    if (peer !== undefined && !isReadable(peer.raw)) return this.#refuse(UNREADABLE);
    if (peer !== undefined && check !== undefined) {
      const refusal = isReused
        ? check.judgeResumed(peer, verifyError, clock.wallMs())
        : check.judge(peer, verifyError);
      if (refusal !== undefined) stats.count(refusal.stat);
      if (refusal !== undefined && !check.acceptsUntrusted) {
        const error = new PeerRefusedError(refusal.detail);
        this.#report(error);
        return error;
      }
      info.isPeerVerified = check.verifiesChain && refusal === undefined;
    }
    stats.countHandshake(info.counted(isReused));
    return undefined;
  }

  onFailure(error: NodeJS.ErrnoException): void {
    // A client that goes away in the middle of its handshake is no error of TLS.
    if (error.code?.startsWith('ERR_SSL_') !== true) return;
    const isMissing = error.code === MISSING_PEER;
    this.#parts.stats.count(isMissing ? 'fail_verify_no_cert' : 'connection_error');
    this.#report(error);
  }

  onEnd(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #refuse(code: string): Error {
    const error: NodeJS.ErrnoException = new Error(code);
    error.code = code;
    this.onFailure(error);
    return error;
  }

  #report(error: NodeJS.ErrnoException): void {
    const text = tlsErrorText(error) ?? '';
    const { id, remoteAddress } = this.#connection;
    this.#connection.transportFailureReason = text;
    this.#parts.log(`[C${id}] remote address:${remoteAddress.text},${text}`);
  }
}

function chooseContext({ contexts }: PresentMaterial): ServerHandshake['choose'] {
  return (serverName) => contexts.choose(serverName).context as InnerContext;
}
