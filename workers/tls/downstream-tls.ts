/**
 * TLS with clients of one filter chain: makes encrypted transports of accepted connections. Uses
 * the runtime's handles directly where it has them, else the sockets of node:tls.
 */
import type net from 'node:net';
import type tls from 'node:tls';
import type { Clock } from '../../shared/process/clock.ts';
import type { DownstreamTls } from '../../shared/resources/tls.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { LISTENER } from '../../shared/stats/templates/listener.ts';
import { TLS_SOCKET_FACTORY } from '../../shared/stats/templates/tls.ts';
import { nodeTls } from '../../shared/tls/secure-contexts.ts';
import { SECRET_MISSING } from '../../shared/tls/tls-errors.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';
import { runtimeHandles } from '../net/runtime-handles.ts';
import { type InnerContext, type RuntimeTls, teachProtocols } from '../net/tls/runtime-tls.ts';
import { SocketStream } from '../net/socket-stream.ts';
import type { TlsCarrier } from '../net/tls/tls-carrier.ts';
import { TlsServerStream } from '../net/tls/tls-server-stream.ts';
import { bufferLimit } from '../net/write-blocks.ts';
import { Transport } from '../net/transport.ts';
import type { TransportParts } from '../net/byte-stream.ts';
import { AnsweredProtocols } from './answered-protocols.ts';
import { DownstreamHandshake, type HandshakeParts } from './downstream-handshake.ts';
import type { InnerTlsSocket } from './handshaken.ts';
import type { SecretStore } from './secret-store.ts';
import { TlsMaterial } from './tls-material.ts';
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
  /** For which the filter chain is chosen. */
  readonly serverNames: readonly string[];
  /** Undefined: by the sockets of node:tls. */
  readonly runtime: RuntimeTls | undefined;
  /** Debug lines of component `connection`. */
  readonly log: (line: string) => void;
}

const HANDSHAKE_TIMEOUT = LISTENER.index.downstream_cx_transport_socket_connect_timeout;

const NOT_READY = TLS_SOCKET_FACTORY.index.downstream_context_secrets_not_ready;

export class DownstreamTlsFactory {
  readonly #config: DownstreamTls;
  readonly #env: DownstreamTlsEnv;
  readonly #stats: TlsStats;
  readonly #material: TlsMaterial;
  readonly #listenerBase: number;
  /** What new connections use, until a secret changes. */
  #present: HandshakeParts | undefined;

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
        requiresPeer: config.requireClientCertificate,
        requiresServerName: config.requireServerName,
        serverNames: env.serverNames,
      },
      log: env.log,
      changed: () => {
        this.#present = this.#handshakeParts();
      },
    });
    this.#stats = new TlsStats(env.stats, env.statOwner, 'server');
    this.#listenerBase = env.stats.defineBlock(LISTENER, env.statOwner);
    this.#present = this.#handshakeParts();
  }

  /**
   * The handshake starts by itself; a failed one closes the transport. Before the secrets are
   * there, it is closed at once.
   */
  secure(
    carrier: TlsCarrier,
    connection: ConnectionInfo,
    parts: TransportParts,
    bufferLimitBytes: number,
  ): Transport {
    const present = this.#present;
    if (present === undefined) return this.#refuse(carrier, connection, parts);
    present.material.contexts.renewSessions(this.#env.clock.wallMs());
    const handshake = new DownstreamHandshake(present, connection);
    const handles = runtimeHandles;
    const { runtime } = this.#env;
    const { handle } = carrier;
    const transport =
      runtime === undefined || handles === undefined || handle === undefined
        ? Transport.adopt(parts, secureSocket(carrier, handshake, present))
        : Transport.over(parts, (owner) => {
            const limitBytes = bufferLimit(bufferLimitBytes);
            const { readBuffer, held } = parts.loop;
            const options = { handles, readBuffer, held, limitBytes, owner };
            return new TlsServerStream({ carrier, handle, runtime }, handshake, options);
          });
    handshake.limit(() => transport.onStreamClose(undefined));
    return transport;
  }

  release(): void {
    this.#material.release();
    this.#stats.release();
    this.#env.stats.releaseBlock(this.#listenerBase);
  }

  #refuse(carrier: TlsCarrier, connection: ConnectionInfo, parts: TransportParts): Transport {
    this.#stats.countFactory(NOT_READY);
    connection.transportFailureReason = SECRET_MISSING;
    const socket = carrier.socket();
    socket.destroy();
    return Transport.over(parts, (owner) => new SocketStream(socket, owner));
  }

  #handshakeParts(): HandshakeParts | undefined {
    const material = this.#material.present;
    if (material === undefined) return undefined;
    this.#stats.open();
    const { clock, log, handshakeTimeoutMs, stats, runtime } = this.#env;
    const { alpn } = this.#config;
    const protocols = alpn.length === 0 ? undefined : new AnsweredProtocols(alpn);
    if (protocols !== undefined && runtime !== undefined) {
      for (const { context } of material.contexts.others) {
        teachProtocols(runtime, context as InnerContext, protocols.encoded);
      }
    }
    return {
      config: this.#config,
      material,
      protocols,
      stats: this.#stats,
      clock,
      log,
      timeoutMs: handshakeTimeoutMs,
      onTimeout: () => stats.increment(this.#listenerBase + HANDSHAKE_TIMEOUT),
    };
  }
}

/** The same by way of node:tls. */
function secureSocket(
  carrier: TlsCarrier,
  handshake: DownstreamHandshake,
  { material, config, protocols }: HandshakeParts,
): tls.TLSSocket {
  const { TLSSocket } = nodeTls();
  const ground = carrier.socket();
  // A socket with a handle gives the runtime its bytes past everybody who listens.
  const isSeen = carrier.handle === undefined;
  const { contexts } = material;
  const options: tls.TLSSocketOptions = {
    isServer: true,
    secureContext: contexts.first,
    requestCert: handshake.asksPeer,
    rejectUnauthorized: handshake.refusesMissingPeer,
    // Changes one certificate of the first context: enough where all are of one key type.
    SNICallback: (serverName, callback) => callback(null, contexts.choose(serverName)),
  };
  if (!isSeen && config.alpn.length > 0) options.ALPNProtocols = [...config.alpn];
  const socket = new TLSSocket(ground, options);
  const { ssl } = socket as unknown as InnerTlsSocket;
  if (isSeen && ssl !== null && protocols !== undefined) offerProtocols(ground, ssl, protocols);
  let isSecure = false;
  socket.on('close', () => handshake.onEnd());
  socket.on('secure', () => {
    isSecure = true;
    (socket as unknown as InnerTlsSocket)._releaseControl();
    const { servername } = socket as { readonly servername?: string | false | null };
    const refusal = handshake.judge(socket, ssl?.verifyError(), servername);
    if (refusal !== undefined) socket.destroy(refusal);
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (!isSecure) handshake.onFailure(error);
  });
  return socket;
}

/** Sees a client's first message before the runtime does, which then has what it is answered. */
function offerProtocols(
  ground: net.Socket,
  ssl: NonNullable<InnerTlsSocket['ssl']>,
  protocols: AnsweredProtocols,
): void {
  let early = Buffer.alloc(0);
  const look = (piece: Buffer): void => {
    early = Buffer.concat([early, piece]);
    const answered = protocols.forClient(early);
    if (answered === 'more') return;
    ground.off('data', look);
    if (answered !== 'none') ssl.setALPNProtocols(answered);
  };
  ground.prependListener('data', look);
}
