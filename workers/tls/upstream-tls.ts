/**
 * TLS with the hosts of one cluster: connects, judges the host's certificate after the handshake,
 * keeps sessions for resumption and counts.
 */
import { isIP } from '../../shared/addresses/ip-text.ts';
import net from 'node:net';
import type tls from 'node:tls';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { TLS_SOCKET_FACTORY } from '../../shared/stats/templates/tls.ts';
import type { UpstreamTls } from '../../shared/resources/tls.ts';
import { HandshakeInfo, type InnerTlsSocket } from './handshaken.ts';
import { isReadable } from '../../shared/tls/certificate-parts.ts';
import { type ExpectedNames, NO_VALIDATION, PeerCheck } from '../../shared/tls/peer-check.ts';
import { nodeTls } from '../../shared/tls/secure-contexts.ts';
import { PeerRefusedError, SecretMissingError } from '../../shared/tls/tls-errors.ts';
import type { LocalSocket } from '../../shared/resources/clusters/cluster.ts';
import { connectLocalSocket } from '../net/local-socket.ts';
import type { SecretStore } from './secret-store.ts';
import { TlsMaterial } from './tls-material.ts';
import { TlsStats } from './tls-stats.ts';

/** Where to connect: a path, or an address with a port. */
export type ConnectTarget =
  | { readonly path: string }
  /** Connected, or about to be. */
  | { readonly socket: net.Socket }
  | {
      readonly host: string;
      readonly port: number;
    };

export interface SecuredSocket {
  readonly socket: tls.TLSSocket;
  readonly info: HandshakeInfo;
}

const NO_NAMES: UpstreamNames = { serverName: '', expectedName: '' };

interface Judging {
  /** The server name that was sent. */
  readonly name: string;
  readonly expectedName: string;
  readonly check: PeerCheck | undefined;
}

const UNJUDGED = new PeerCheck(NO_VALIDATION);

const NOT_READY = TLS_SOCKET_FACTORY.index.upstream_context_secrets_not_ready;

export interface UpstreamTlsEnv {
  readonly secrets: SecretStore;
  readonly stats: StatWriter;
  /** Such as `cluster.web.`. */
  readonly statOwner: string;
  readonly log: (line: string) => void;
  readonly loop: { readonly clock: { readonly wallMs: number } };
}

/** What a request asks of TLS towards its host; empty texts ask nothing. */
export interface UpstreamNames {
  readonly serverName: string;
  /** Has to be among the names of the host's certificate. */
  readonly expectedName: string;
  /** Offered by ALPN in place of what is configured; absent: as configured. */
  readonly protocols?: readonly string[] | undefined;
}

interface ConnectWishes {
  readonly hostname: string;
  readonly names?: UpstreamNames | undefined;
  readonly preface?: Buffer | undefined;
  /** Instead of the configured protocols. */
  readonly alpn?: readonly string[] | undefined;
  /** Where no protocol is configured. */
  readonly fallbackAlpn?: readonly string[] | undefined;
  /** This side of the connection; undefined: as the system has it. */
  readonly local?: LocalSocket | undefined;
}

const HTTP_PROTOCOLS: ReadonlySet<string> = new Set(['h2', 'http/1.1', 'http/1.0']);

/** `spoken` are those of HTTP that the connection can carry; no other of HTTP is offered. */
function offered(
  configured: readonly string[],
  spoken: readonly string[] | undefined,
): readonly string[] {
  if (spoken === undefined) return configured;
  const left = configured.filter((name) => !HTTP_PROTOCOLS.has(name) || spoken.includes(name));
  return left.length > 0 ? left : spoken;
}

export class UpstreamTlsFactory {
  readonly #config: UpstreamTls;
  readonly #env: UpstreamTlsEnv;
  readonly #stats: TlsStats;
  readonly #material: TlsMaterial;
  /**
   * The sessions of hosts that were accepted by these names, since a resumed session is not judged;
   * the newest last.
   */
  readonly #sessions: { readonly key: string; readonly session: Buffer }[] = [];

  /** Throws when OpenSSL does not take the configuration. */
  constructor(config: UpstreamTls, env: UpstreamTlsEnv) {
    this.#config = config;
    this.#env = env;
    this.#stats = new TlsStats(env.stats, env.statOwner, 'client');
    this.#material = new TlsMaterial({
      context: config,
      secrets: env.secrets,
      log: env.log,
      changed: () => {
        // What was accepted by other rules is not resumed.
        this.#sessions.length = 0;
        if (this.#material.present !== undefined) this.#stats.open();
      },
    });
    if (this.#material.present !== undefined) this.#stats.open();
  }

  /**
   * Starts to connect. The socket says `secureConnect` when its host is accepted, or ends with an
   * error. `preface` is sent before the handshake.
   */
  connect(
    target: ConnectTarget,
    { hostname, names = NO_NAMES, preface, local, alpn: wanted, fallbackAlpn }: ConnectWishes,
  ): SecuredSocket {
    const info = new HandshakeInfo();
    const { present } = this.#material;
    if (present === undefined) return { socket: this.#refuse(), info };
    const name = this.#serverName(hostname, names.serverName);
    const { expectedName } = names;
    const key = `${name} ${expectedName}`;
    const alpn = wanted ?? names.protocols ?? offered(this.#config.alpn, fallbackAlpn);
    const session = this.#sessions.findLast((each) => each.key === key)?.session;
    const options: tls.ConnectionOptions = {
      ...(preface === undefined && local === undefined
        ? target
        : { socket: beginWith(preface, target, local) }),
      secureContext: present.contexts.first,
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      // An address is no server name (RFC 6066), but has to be in the certificate all the same.
      ...(name === '' || isIP(name) !== 0 ? {} : { servername: name }),
      ...(session === undefined ? {} : { session }),
      ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] }),
    };
    const socket = nodeTls().connect(options);
    let isSecure = false;
    let isAccepted = false;
    let early: Buffer | undefined;
    socket.on('secureConnect', () => {
      isSecure = true;
      isAccepted = this.#judge(socket, info, { name, expectedName, check: present.check });
      if (isAccepted && early !== undefined) this.#keep(key, early);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (!isSecure && error.code?.startsWith('ERR_SSL_') === true) {
        this.#stats.count('connection_error');
      }
    });
    socket.on('session', (each: Buffer) => {
      if (isAccepted) this.#keep(key, each);
      else early = each;
    });
    return { socket, info };
  }

  release(): void {
    this.#material.release();
    this.#stats.release();
  }

  #serverName(hostname: string, asked: string): string {
    if (asked !== '') return asked;
    return this.#config.autoHostServerName && hostname !== '' ? hostname : this.#config.serverName;
  }

  #judge(
    socket: tls.TLSSocket,
    info: HandshakeInfo,
    { name, expectedName, check }: Judging,
  ): boolean {
    info.complete(socket, true);
    const peer = info.peerCertificate;
    const verifyError = (socket as unknown as InnerTlsSocket).ssl?.verifyError();
    if (expectedName !== '' && check === undefined) {
      // Without an authority no name in a certificate can be relied on.
      socket.destroy(new PeerRefusedError(''));
      return false;
    }
    if (peer !== undefined && !isReadable(peer.raw)) {
      const error: NodeJS.ErrnoException = new Error("the host's certificate cannot be read");
      error.code = 'ERR_SSL_DECODE_ERROR';
      this.#stats.count('connection_error');
      socket.destroy(error);
      return false;
    }
    const judge = check ?? UNJUDGED;
    const expected = this.#expected(name, expectedName);
    const isReused = socket.isSessionReused();
    // What is resumed was accepted by this check before, and does not have its chain any more.
    const refusal =
      peer &&
      (isReused
        ? judge.judgeResumed(peer, verifyError, this.#env.loop.clock.wallMs, expected)
        : judge.judge(peer, verifyError, expected));
    if (refusal !== undefined) this.#stats.count(refusal.stat);
    if (refusal === undefined || judge.acceptsUntrusted) {
      info.isPeerVerified = judge.verifiesChain && refusal === undefined;
      this.#stats.countHandshake(info.counted(isReused));
      return true;
    }
    socket.destroy(new PeerRefusedError(refusal.detail));
    return false;
  }

  #expected(serverName: string, expectedName: string): ExpectedNames {
    return {
      ...(this.#config.autoSanValidation && serverName !== '' ? { instead: serverName } : {}),
      ...(expectedName === '' ? {} : { besides: expectedName }),
    };
  }

  /** A socket that ends at once, as one does whose host cannot be reached. */
  #refuse(): tls.TLSSocket {
    this.#stats.countFactory(NOT_READY);
    const { TLSSocket } = nodeTls();
    const socket = new TLSSocket(new net.Socket());
    socket.destroy(new SecretMissingError());
    return socket;
  }

  #keep(key: string, session: Buffer): void {
    if (this.#config.maxSessionKeys === 0) return;
    this.#sessions.push({ key, session });
    if (this.#sessions.length > this.#config.maxSessionKeys) this.#sessions.shift();
  }
}

/** A plain connection whose first bytes are these; written before TLS has the socket. */
function beginWith(
  preface: Buffer | undefined,
  target: ConnectTarget,
  local: LocalSocket | undefined,
): net.Socket {
  const socket = socketTo(target, local);
  if (preface !== undefined) socket.write(preface);
  return socket;
}

/** Begins to connect, from the local socket where there is one. */
export function socketTo(target: ConnectTarget, local: LocalSocket | undefined): net.Socket {
  if ('socket' in target) return target.socket;
  if (local === undefined || 'path' in target) return net.connect(target);
  return connectLocalSocket(local, target);
}
