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
import { TLS_SOCKET_FACTORY } from '../../shared/stats/templates/tls.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { HandshakeInfo, type InnerTlsSocket } from './handshaken.ts';
import { nodeTls } from '../../shared/tls/secure-contexts.ts';
import { PeerRefusedError, SECRET_MISSING, tlsErrorText } from '../../shared/tls/tls-errors.ts';
import type { SecretStore } from './secret-store.ts';
import { type PresentMaterial, TlsMaterial } from './tls-material.ts';
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
  readonly secrets: SecretStore;
  /** Debug lines of component `connection`. */
  readonly log: (line: string) => void;
}

const HANDSHAKE_TIMEOUT = LISTENER.index.downstream_cx_transport_socket_connect_timeout;

const NOT_READY = TLS_SOCKET_FACTORY.index.downstream_context_secrets_not_ready;

/** What new connections use, until a secret changes. */
interface Present extends PresentMaterial {
  readonly options: tls.TLSSocketOptions;
}

export class DownstreamTlsFactory {
  readonly #config: DownstreamTls;
  readonly #env: DownstreamTlsEnv;
  readonly #stats: TlsStats;
  readonly #material: TlsMaterial;
  readonly #listenerBase: number;
  #present: Present | undefined;

  /** Throws when OpenSSL does not take the configuration. */
  constructor(config: DownstreamTls, env: DownstreamTlsEnv) {
    this.#config = config;
    this.#env = env;
    const { ticketKeys } = config;
    this.#material = new TlsMaterial({
      context: config,
      secrets: env.secrets,
      sessions: {
        ticketKeys: ticketKeys === undefined ? env.ticketKeys : Buffer.from(ticketKeys, 'base64'),
        usesTickets: config.usesTickets,
        timeoutS: config.sessionTimeoutS,
        preferClientCiphers: config.preferClientCiphers,
      },
      log: env.log,
      changed: () => {
        this.#present = this.#withOptions();
      },
    });
    this.#present = this.#withOptions();
    this.#stats = new TlsStats(env.stats, env.statOwner, 'server');
    this.#listenerBase = env.stats.defineBlock(LISTENER, env.statOwner);
  }

  /**
   * The handshake starts by itself; a failed one ends the socket with an error. Before the secrets are
   * there, the socket is ended at once.
   */
  wrap(socket: net.Socket, connection: ConnectionInfo, bufferLimitBytes: number): net.Socket {
    const present = this.#present;
    if (present === undefined) {
      this.#stats.countFactory(NOT_READY);
      connection.transportFailureReason = SECRET_MISSING;
      return socket.destroy();
    }
    const info = new HandshakeInfo();
    connection.tls = info;
    const { TLSSocket } = nodeTls();
    const options = { ...present.options, highWaterMark: bufferLimitBytes };
    const secured = new TLSSocket(socket, options as tls.TLSSocketOptions);
    let isSecure = false;
    const timer = this.#limitHandshake(secured);
    secured.on('close', () => timer?.cancel());
    secured.on('secure', () => {
      isSecure = true;
      timer?.cancel();
      (secured as unknown as InnerTlsSocket)._releaseControl();
      this.#judge(secured, connection, { info, present });
    });
    secured.on('error', (error: NodeJS.ErrnoException) => {
      if (!isSecure) this.#fail(error, connection);
    });
    return secured;
  }

  release(): void {
    this.#material.release();
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

  #judge(
    socket: tls.TLSSocket,
    connection: ConnectionInfo,
    { info, present }: { readonly info: HandshakeInfo; readonly present: Present },
  ): void {
    const { options, contexts } = present;
    info.complete(socket, options.requestCert === true, contexts.onlyCertificate);
    const { servername } = socket as { readonly servername?: string | false | null };
    if (this.#config.requireServerName && typeof servername !== 'string') {
      this.#stats.count('connection_error');
      socket.destroy(new Error('the client names no server'));
      return;
    }
    const peer = info.peerCertificate;
    const { check } = present;
    if (peer !== undefined && check !== undefined) {
      const verifyError = (socket as unknown as InnerTlsSocket).ssl?.verifyError();
      const refusal = check.judge(peer, verifyError, undefined);
      if (refusal !== undefined) {
        this.#stats.count(refusal.stat);
        const error = new PeerRefusedError(refusal.detail);
        this.#report(error, connection);
        socket.destroy(error);
        return;
      }
      info.isPeerVerified = check.verifiesChain;
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

  #withOptions(): Present | undefined {
    const { present } = this.#material;
    if (present === undefined) return undefined;
    const { contexts, check } = present;
    const { alpn, requireClientCertificate, requireServerName } = this.#config;
    const options: tls.TLSSocketOptions = {
      isServer: true,
      secureContext: contexts.first,
      requestCert: check !== undefined || requireClientCertificate,
      // Only a missing certificate is OpenSSL's to refuse: what it is worth is judged afterwards.
      rejectUnauthorized: requireClientCertificate,
    };
    if (alpn.length > 0) options.ALPNProtocols = [...alpn];
    if (contexts.hasSeveral || requireServerName) {
      options.SNICallback = (serverName, callback) => {
        callback(null, contexts.choose(serverName));
      };
    }
    return { ...present, options };
  }
}
