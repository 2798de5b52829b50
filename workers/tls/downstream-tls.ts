/**
 * TLS with clients of one filter chain: makes TLS sockets of accepted ones, judges client certificates
 * after the handshake (so that a refused client sees a close, not an alert) and counts.
 */
import type net from 'node:net';
import type tls from 'node:tls';
import type { Clock, Timer } from '../../shared/clock.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { DownstreamTls } from '../../shared/resources/tls.ts';
import { LISTENER } from '../../shared/stats/templates/listener.ts';
import type { ConnectionInfo } from '../http/stream-info.ts';
import { HandshakeInfo, type InnerTlsSocket } from './handshaken.ts';
import { PeerCheck } from '../../shared/tls/peer-check.ts';
import { nodeTls, SecureContexts } from '../../shared/tls/secure-contexts.ts';
import { PeerRefusedError, tlsErrorText } from '../../shared/tls/tls-errors.ts';
import { TlsStats } from './tls-stats.ts';

export interface DownstreamTlsEnv {
  readonly clock: Clock;
  /** For one handshake; undefined: no limit of its own. */
  readonly handshakeTimeoutMs: number | undefined;
  readonly stats: StatWriter;
  /** Such as `listener.127.0.0.1_443.`. */
  readonly statOwner: string;
  /** The server's own 48 bytes. */
  readonly ticketKeys: Buffer;
  /** Debug lines of component `connection`. */
  readonly log: (line: string) => void;
}

const HANDSHAKE_TIMEOUT = LISTENER.index.downstream_cx_transport_socket_connect_timeout;

export class DownstreamTlsFactory {
  readonly #config: DownstreamTls;
  readonly #env: DownstreamTlsEnv;
  readonly #stats: TlsStats;
  readonly #contexts: SecureContexts;
  readonly #listenerBase: number;
  readonly #check: PeerCheck | undefined;
  readonly #options: tls.TLSSocketOptions;

  /** Throws when OpenSSL does not take the configuration. */
  constructor(config: DownstreamTls, env: DownstreamTlsEnv) {
    this.#config = config;
    this.#env = env;
    const { validation, requireClientCertificate } = config;
    this.#check = validation === undefined ? undefined : new PeerCheck(validation);
    this.#contexts = new SecureContexts({
      tls: config,
      certificates: config.certificates,
      validation,
      sessions: {
        ticketKeys:
          config.ticketKeys === undefined
            ? env.ticketKeys
            : Buffer.from(config.ticketKeys, 'base64'),
        usesTickets: config.usesTickets,
        timeoutS: config.sessionTimeoutS,
        preferClientCiphers: config.preferClientCiphers,
      },
    });
    this.#stats = new TlsStats(env.stats, env.statOwner, 'server');
    this.#listenerBase = env.stats.defineBlock(LISTENER, env.statOwner);
    this.#options = this.#socketOptions(validation !== undefined || requireClientCertificate);
  }

  /** The handshake starts by itself; a failed one ends the socket with an error. */
  wrap(socket: net.Socket, connection: ConnectionInfo, bufferLimitBytes: number): tls.TLSSocket {
    const info = new HandshakeInfo();
    connection.tls = info;
    const { TLSSocket } = nodeTls();
    const options = { ...this.#options, highWaterMark: bufferLimitBytes };
    const secured = new TLSSocket(socket, options as tls.TLSSocketOptions);
    let isSecure = false;
    const timer = this.#limitHandshake(secured);
    secured.on('close', () => timer?.cancel());
    secured.on('secure', () => {
      isSecure = true;
      timer?.cancel();
      (secured as unknown as InnerTlsSocket)._releaseControl();
      this.#judge(secured, connection, info);
    });
    secured.on('error', (error: NodeJS.ErrnoException) => {
      if (!isSecure) this.#fail(error, connection);
    });
    return secured;
  }

  release(): void {
    this.#stats.release();
    this.#env.stats.releaseBlock(this.#listenerBase);
  }

  #limitHandshake(socket: tls.TLSSocket): Timer | undefined {
    const { clock, handshakeTimeoutMs, stats } = this.#env;
    if (handshakeTimeoutMs === undefined || handshakeTimeoutMs === 0) return undefined;
    return clock.after(handshakeTimeoutMs, () => {
      stats.increment(this.#listenerBase + HANDSHAKE_TIMEOUT);
      socket.destroy();
    });
  }

  #judge(socket: tls.TLSSocket, connection: ConnectionInfo, info: HandshakeInfo): void {
    info.complete(socket, this.#options.requestCert === true);
    const { servername } = socket as { readonly servername?: string | false | null };
    if (this.#config.requireServerName && typeof servername !== 'string') {
      this.#stats.count('connection_error');
      socket.destroy(new Error('the client names no server'));
      return;
    }
    const peer = info.peerCertificate;
    if (peer !== undefined && this.#check !== undefined) {
      const verifyError = (socket as unknown as InnerTlsSocket).ssl?.verifyError();
      const refusal = this.#check.judge(peer, verifyError, undefined);
      if (refusal !== undefined) {
        this.#stats.count(refusal.stat);
        const error = new PeerRefusedError(refusal.detail);
        this.#report(error, connection);
        socket.destroy(error);
        return;
      }
      info.isPeerVerified = this.#check.verifiesChain;
    }
    this.#stats.countHandshake(info.counted(socket.isSessionReused()));
  }

  #fail(error: NodeJS.ErrnoException, connection: ConnectionInfo): void {
    // A client that goes away in the middle of its handshake is no error of TLS.
    if (error.code?.startsWith('ERR_SSL_') !== true) return;
    const isMissing = error.code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE';
    this.#stats.count(isMissing ? 'fail_verify_no_cert' : 'connection_error');
    this.#report(error, connection);
  }

  #report(error: NodeJS.ErrnoException, connection: ConnectionInfo): void {
    const text = tlsErrorText(error) ?? '';
    connection.transportFailureReason = text;
    this.#env.log(`[C${connection.id}] remote address:${connection.remoteAddress.text},${text}`);
  }

  #socketOptions(asksClient: boolean): tls.TLSSocketOptions {
    const { alpn, requireClientCertificate, requireServerName } = this.#config;
    const options: tls.TLSSocketOptions = {
      isServer: true,
      secureContext: this.#contexts.first,
      requestCert: asksClient,
      // Only a missing certificate is OpenSSL's to refuse: what it is worth is judged afterwards.
      rejectUnauthorized: requireClientCertificate,
    };
    if (alpn.length > 0) options.ALPNProtocols = [...alpn];
    if (this.#contexts.hasSeveral || requireServerName) {
      options.SNICallback = (serverName, callback) => {
        callback(null, this.#contexts.choose(serverName));
      };
    }
    return options;
  }
}
