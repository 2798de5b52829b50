/** What a finished handshake says: the facts for access logs and headers, and for statistics. */
import type { X509Certificate } from 'node:crypto';
import { nodeTls } from '../../shared/tls/secure-contexts.ts';
import type { CertificateInfo, TlsInfo } from '../net/connection-info.ts';
import type { TlsHandle } from '../net/tls/runtime-tls.ts';
import { X509Facts } from './certificate-info.ts';
import { readSession, type SessionInfo } from './session-info.ts';
import type { HandshakeFacts } from './tls-stats.ts';

/** What a finished handshake is asked; sockets of node:tls are such. */
export interface HandshakeSource {
  getProtocol(): string | null;
  getCipher(): { readonly name: string };
  /** False where nothing was agreed on. */
  readonly alpnProtocol: string | false | null;
  getSession(): Buffer | undefined;
  getX509Certificate(): X509Certificate | undefined;
  getPeerX509Certificate(): X509Certificate | undefined;
  isSessionReused(): boolean;
}

/** Set when the handshake is done; until then everything is empty. */
export class HandshakeInfo implements TlsInfo {
  version = '';
  cipherSuite = '';
  alpn = '';
  isPeerVerified = false;
  peerCertificate: X509Certificate | undefined = undefined;
  #localCertificate: X509Certificate | undefined = undefined;
  #session: Buffer | undefined = undefined;
  #sessionInfo: SessionInfo | undefined = undefined;
  #peer: CertificateInfo | undefined = undefined;
  #local: CertificateInfo | undefined = undefined;

  /**
   * Takes everything from the socket that is gone with it. `own` is this side's certificate where
   * there is no choice: asking OpenSSL for it costs a tenth of a handshake.
   */
  complete(socket: HandshakeSource, asksPeer: boolean, own?: X509Certificate): void {
    this.version = socket.getProtocol() ?? '';
    this.cipherSuite = socket.getCipher().name;
    this.alpn = socket.alpnProtocol || '';
    this.#session = socket.getSession();
    this.#localCertificate = own ?? socket.getX509Certificate();
    if (asksPeer) this.peerCertificate = socket.getPeerX509Certificate();
  }

  get sessionId(): string {
    return this.#facts().id;
  }

  get group(): string | undefined {
    return this.#facts().group;
  }

  get peer(): CertificateInfo | undefined {
    if (this.peerCertificate === undefined) return undefined;
    this.#peer ??= new X509Facts(this.peerCertificate);
    return this.#peer;
  }

  get local(): CertificateInfo | undefined {
    if (this.#localCertificate === undefined) return undefined;
    this.#local ??= new X509Facts(this.#localCertificate);
    return this.#local;
  }

  /** For the statistics of a listener or cluster. */
  counted(isReused: boolean): HandshakeFacts {
    return {
      version: this.version,
      cipher: this.cipherSuite,
      group: this.group,
      isReused,
      hasPeerCertificate: this.peerCertificate !== undefined,
    };
  }

  #facts(): SessionInfo {
    this.#sessionInfo ??= readSession(this.#session);
    return this.#sessionInfo;
  }
}

/** A TLS handle of the runtime, asked as a socket of node:tls is. */
export class HandshakenHandle implements HandshakeSource {
  /**
   * Where the methods of node:tls look for it, which alone can make certificates of what it tells.
   */
  readonly _handle: TlsHandle;

  constructor(handle: TlsHandle) {
    this._handle = handle;
  }

  getProtocol(): string {
    return this._handle.getProtocol();
  }

  getCipher(): { readonly name: string } {
    return this._handle.getCipher();
  }

  get alpnProtocol(): string | false {
    return this._handle.getALPNNegotiatedProtocol();
  }

  getSession(): Buffer | undefined {
    return this._handle.getSession();
  }

  isSessionReused(): boolean {
    return this._handle.isSessionReused();
  }

  getX509Certificate(): X509Certificate | undefined {
    return nodeTls().TLSSocket.prototype.getX509Certificate.call(this);
  }

  getPeerX509Certificate(): X509Certificate | undefined {
    return nodeTls().TLSSocket.prototype.getPeerX509Certificate.call(this);
  }
}

/** Parts of the runtime's TLS sockets that its types leave out. */
export interface InnerTlsSocket {
  /** Lets errors after the handshake reach the socket's own events. */
  _releaseControl(): boolean;
  readonly ssl: {
    verifyError(): NodeJS.ErrnoException | null;
    /** In the form of TLS: each name with its length before it. */
    setALPNProtocols(protocols: Buffer): void;
  } | null;
}
