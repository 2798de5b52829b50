/**
 * The runtime's own TLS handles, which node:tls is made of: their shape and how to get one over an
 * open stream handle. They are no stable interface of Node.js; whoever uses them asks `runtimeTls`
 * first and goes by node:tls where it answers undefined.
 */
import type { StreamHandle } from './runtime-handles.ts';

/** What the runtime keeps of a `tls.SecureContext`. */
export type InnerContext = object;

export interface InnerCipher {
  readonly name: string;
}

/** A TLS layer over a stream handle. Reading and writing are decrypted. */
export interface TlsHandle extends StreamHandle {
  /** Called within OpenSSL: the layer must not be destroyed before that has returned. */
  onhandshakedone?: (this: TlsHandle) => void;
  /** The same; asks which context serves. Answered by `certCbDone`. */
  oncertcb?: (this: TlsHandle, asked: AskedCertificate) => void;
  /** Of OpenSSL; a failed handshake, or a later failure of the protocol. */
  onerror?: (this: TlsHandle, error: NodeJS.ErrnoException) => void;
  /** Set before `certCbDone`: a context instead of the first. */
  sni_context?: InnerContext;
  enableCertCb(): void;
  certCbDone(): void;
  setOCSPResponse(response: Buffer): void;
  setVerifyMode(asksPeer: boolean, refusesMissing: boolean): void;
  setALPNProtocols(protocols: Buffer): void;
  /** Bytes that were read from the stream before. */
  receive(bytes: Buffer): void;
  /** Gives everything back; the stream beneath stays open. */
  destroySSL(): void;
  getServername(): string | false;
  getProtocol(): string;
  getCipher(): InnerCipher;
  getSession(): Buffer | undefined;
  isSessionReused(): boolean;
  verifyError(): NodeJS.ErrnoException | null;
}

export interface AskedCertificate {
  /** Empty without one. */
  readonly servername: string;
  /** Whether the client wants an answer of its certificate's authority (OCSP) with it. */
  readonly OCSPRequest: boolean;
}

export interface RuntimeTls {
  /** Puts the server's side of TLS onto a stream, which must stay alive as long. */
  wrapServer(stream: StreamHandle, context: InnerContext): TlsHandle;
}

type Wrap = (
  stream: StreamHandle,
  context: InnerContext,
  isServer: boolean,
  hasActiveWrite: boolean,
) => TlsHandle;

const METHODS = [
  'enableCertCb',
  'certCbDone',
  'setOCSPResponse',
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
