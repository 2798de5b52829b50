/**
 * The runtime's own TLS handles, which node:tls is made of: their shape and how to get one over an
 * open stream handle. They are no stable interface of Node.js; their users ask `runtimeTls`
 * first and go by node:tls where it answers undefined.
 */
import { runtimeHandles, type StreamHandle } from '../runtime-handles.ts';

/** What the runtime keeps of a `tls.SecureContext`. */
export type InnerContext = object;

interface InnerCipher {
  readonly name: string;
}

/** A TLS layer over a stream handle. Reading and writing are decrypted. */
export interface TlsHandle extends StreamHandle {
  /** Called within OpenSSL: the layer must not be destroyed before that has returned. */
  onhandshakedone?: (this: TlsHandle) => void;
  /** The error of OpenSSL: a failed handshake, or a later failure of the protocol. */
  onerror?: (this: TlsHandle, error: NodeJS.ErrnoException) => void;
  /** A context instead of the first; read by the runtime when it has set `servername`. */
  sni_context?: InnerContext;
  setVerifyMode(asksPeer: boolean, refusesMissing: boolean): void;
  setALPNProtocols(protocols: Buffer): void;
  /** Bytes that were read from the stream before. */
  receive(bytes: Buffer): void;
  /** Gives everything back; the stream below stays open. */
  destroySSL(): void;
  getServername(): string | false;
  getProtocol(): string;
  getCipher(): InnerCipher;
  getALPNNegotiatedProtocol(): string | false;
  getSession(): Buffer | undefined;
  isSessionReused(): boolean;
  verifyError(): NodeJS.ErrnoException | null;
}

export interface RuntimeTls {
  /** Puts the server's side of TLS onto a stream, which must stay alive as long. */
  wrapServer(stream: StreamHandle, context: InnerContext): TlsHandle;
}

/**
 * Lets a context answer protocols (ALPN) although connections only change to it: the runtime sets
 * that up for the context that a connection begins with.
 */
export function teachProtocols(
  runtime: RuntimeTls,
  context: InnerContext,
  protocols: Buffer,
): void {
  const stream = runtimeHandles?.newTcp();
  if (stream === undefined) return;
  const layer = runtime.wrapServer(stream, context);
  layer.setALPNProtocols(protocols);
  layer.destroySSL();
  stream.close();
}

type Wrap = (
  stream: StreamHandle,
  context: InnerContext,
  isServer: boolean,
  hasActiveWrite: boolean,
) => TlsHandle;

const METHODS = [
  'setVerifyMode',
  'setALPNProtocols',
  'receive',
  'destroySSL',
  'getServername',
  'getProtocol',
  'getCipher',
  'getSession',
  'isSessionReused',
  'verifyError',
  'useUserBuffer',
  'readStart',
  'readStop',
  'writeLatin1String',
  'writeBuffer',
  'shutdown',
] as const;

let known: RuntimeTls | null | undefined;

/** Undefined where the runtime does not have them in the form that is known here. */
export function runtimeTls(): RuntimeTls | undefined {
  known ??= load() ?? null;
  return known ?? undefined;
}

function load(): RuntimeTls | undefined {
  // node:tls completes what the binding offers.
  process.getBuiltinModule('node:tls');
  const { binding: find } = process as unknown as { binding?: (name: string) => unknown };
  let found: { readonly wrap?: Wrap; readonly TLSWrap?: { readonly prototype: object } };
  try {
    found = find?.('tls_wrap') as typeof found;
  } catch {
    return undefined; // not offered by this runtime
  }
  const { wrap, TLSWrap } = found;
  const prototype = TLSWrap?.prototype as Readonly<Record<string, unknown>> | undefined;
  if (typeof wrap !== 'function' || prototype === undefined) return undefined;
  if (METHODS.some((name) => typeof prototype[name] !== 'function')) return undefined;
  return { wrapServer: (stream, context) => wrap(stream, context, true, false) };
}
