/**
 * A byte stream over the server's side of TLS on the runtime's handles, without the sockets of
 * node:net and node:tls: what they cost is more than half of what OpenSSL needs for a handshake
 * with an ECDSA certificate (docs/performance.md). Whom to trust and what to count is its
 * handshake's to know.
 */
import { EncryptedStream, type EncryptedStreamOptions } from './encrypted-stream.ts';
import type { StreamHandle } from '../runtime-handles.ts';
import type { InnerContext, RuntimeTls, TlsHandle } from './runtime-tls.ts';
import type { TlsCarrier } from './tls-carrier.ts';

/** One connection's handshake as its configuration wants it. */
export interface ServerHandshake {
  readonly context: InnerContext;
  readonly asksPeer: boolean;
  readonly refusesMissingPeer: boolean;
  /**
   * What answers the protocols (ALPN) that a client names in its first message; absent where there
   * is nothing to answer, and the first message is OpenSSL's alone.
   */
  readonly protocolsFor: ((firstBytes: Buffer) => OfferedProtocols) | undefined;
  /** By the server name that the client asks for; absent where the context is the only one. */
  readonly choose: ((serverName: string) => InnerContext) | undefined;
  /** The handshake is done; an error refuses the peer. */
  onSecure(handle: TlsHandle): Error | undefined;
  /** It failed, by the protocol. */
  onFailure(error: NodeJS.ErrnoException): void;
  /** In any case, once. */
  onEnd(): void;
}

/**
 * Names with their lengths before them. `none`: the client is answered as if it named no protocol,
 * because OpenSSL refuses a client with which it has none in common; `more`: the message is not whole.
 */
export type OfferedProtocols = Buffer | 'none' | 'more';

export interface TlsGround {
  readonly carrier: TlsCarrier;
  /** The handle of the carrier. */
  readonly handle: StreamHandle;
  readonly runtime: RuntimeTls;
}

interface OwnedTlsHandle extends TlsHandle {
  server?: TlsServerStream;
}

/** Keeps the TLS layer alive as long as the stream below it. */
interface CarryingHandle extends StreamHandle {
  tls?: TlsHandle;
  /** Who reads before there is a TLS layer. */
  server?: TlsServerStream;
}

export class TlsServerStream extends EncryptedStream {
  readonly #ground: TlsGround;
  readonly #carrier: TlsCarrier;
  readonly #handshake: ServerHandshake;
  /** Absent until it is known which protocols it offers. */
  #tls: OwnedTlsHandle | undefined = undefined;
  /** What came of a first message that is not whole. */
  #firstBytes: Buffer = EMPTY;
  #isSecure = false;
  /** OpenSSL calls and is not to be taken away. */
  #isWithinHandshake = false;
  #isClosed = false;
  #wasEndSent = false;
  #isEndBegun = false;

  constructor(ground: TlsGround, handshake: ServerHandshake, options: EncryptedStreamOptions) {
    const { carrier } = ground;
    super(carrier.addresses, options);
    this.#ground = ground;
    this.#carrier = carrier;
    this.#handshake = handshake;
    // What was read before is the TLS layer's: it is taken before that one reads.
    const early = carrier.takeEarly();
    if (handshake.protocolsFor !== undefined) this.#awaitHello(Buffer.concat(early));
    else this.#wrap('none', early);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#firstBytes = EMPTY;
    if (this.#isWithinHandshake) {
      this.#carrier.close(() => this.#tls?.destroySSL());
    } else {
      this.#tls?.destroySSL();
      this.#carrier.close();
    }
    this.dropWrites();
    this.#handshake.onEnd();
  }

  /** The handshake ends before it is done, or what follows it breaks. */
  onError(error: NodeJS.ErrnoException): void {
    if (this.#isClosed) return;
    if (!this.#isSecure) this.#handshake.onFailure(error);
    this.finish(error);
  }

  onHandshakeDone(): void {
    // Said again when keys are renewed.
    const tls = this.#tls;
    if (tls === undefined || this.#isSecure || this.#isClosed) return;
    this.#isSecure = true;
    this.#isWithinHandshake = true;
    let refusal: Error | undefined;
    try {
      refusal = this.#handshake.onSecure(tls);
    } catch (error) {
      this.owner.onStreamException(error);
      return;
    }
    if (refusal !== undefined) this.finish(refusal);
    else if (!this.#isClosed) this.takeHandle(tls);
    this.#isWithinHandshake = false;
  }

  protected get isOver(): boolean {
    return this.#isClosed;
  }

  protected get hasEnded(): boolean {
    return this.#wasEndSent;
  }

  protected sendEnd(): void {
    if (this.#isEndBegun || this.#isClosed) return;
    this.#isEndBegun = true;
    const tls = this.#tls;
    if (tls === undefined) {
      process.nextTick(() => this.finish(undefined));
      return;
    }
    const request = this.options.handles.newShutdown();
    request.oncomplete = () => this.#onEndSent();
    const status = tls.shutdown(request);
    // 1: done already. An error: the peer is gone, which reading reports.
    if (status !== 0) process.nextTick(() => this.#onEndSent());
  }

  protected finish(error: NodeJS.ErrnoException | undefined): void {
    if (this.#isClosed) return;
    this.close();
    this.owner.onStreamClose(error);
  }

  /** The client ends in the middle of the handshake. */
  onEarlyEnd(): void {
    this.finish(undefined);
  }

  /** Bytes of the first message have come, or its reading ended. */
  onFirstBytes(): void {
    const length = this.options.handles.readLength();
    if (length === 0 || this.#isClosed) return;
    if (length < 0) return this.onEarlyEnd();
    this.#lookAt(Buffer.concat([this.#firstBytes, this.options.readBuffer.subarray(0, length)]));
  }

  #awaitHello(early: Buffer): void {
    const ground: CarryingHandle = this.#ground.handle;
    ground.server = this;
    ground.onread = onFirstBytes;
    ground.useUserBuffer(this.options.readBuffer);
    if (early.length === 0) ground.readStart();
    else process.nextTick(() => this.#isClosed || this.#lookAt(early));
  }

  #lookAt(firstBytes: Buffer): void {
    try {
      const protocols = this.#handshake.protocolsFor?.(firstBytes) ?? 'none';
      if (protocols === 'more') {
        this.#firstBytes = firstBytes;
        this.#ground.handle.readStart();
        return;
      }
      this.#firstBytes = EMPTY;
      this.#ground.handle.readStop();
      this.#begin(this.#wrap(protocols), [firstBytes]);
    } catch (error) {
      this.owner.onStreamException(error);
    }
  }

  /** Puts the TLS layer onto the stream; it reads as soon as it has what came before. */
  #wrap(protocols: Buffer | 'none', early?: readonly Buffer[]): TlsHandle {
    const handshake = this.#handshake;
    const ground = this.#ground;
    const stream: CarryingHandle = ground.handle;
    const handle: OwnedTlsHandle = ground.runtime.wrapServer(stream, handshake.context);
    this.#tls = handle;
    stream.tls = handle;
    handle.server = this;
    handle.onread = onEarlyRead;
    handle.onerror = onError;
    handle.onhandshakedone = onHandshakeDone;
    if (handshake.asksPeer) handle.setVerifyMode(true, handshake.refusesMissingPeer);
    if (protocols !== 'none') handle.setALPNProtocols(protocols);
    const { choose } = handshake;
    if (choose !== undefined) {
      // The runtime says the name by setting this, and then changes to the context that it finds: a
      // change in `oncertcb` would leave certificates of other key types as they were.
      Object.defineProperty(handle, 'servername', {
        set(name: string) {
          handle.sni_context = choose(name);
        },
      });
    }
    if (early?.length === 0) handle.readStart();
    else if (early !== undefined) process.nextTick(() => this.#begin(handle, early));
    return handle;
  }

  #begin(tls: TlsHandle, early: readonly Buffer[]): void {
    for (const piece of early) if (!this.#isClosed) tls.receive(piece);
    if (!this.#isClosed) tls.readStart();
  }

  #onEndSent(): void {
    this.#wasEndSent = true;
    if (this.isPeerEnded || this.closesAfterWrites) this.finish(undefined);
  }
}

function onError(this: OwnedTlsHandle, error: NodeJS.ErrnoException): void {
  this.server?.onError(error);
}

function onHandshakeDone(this: OwnedTlsHandle): void {
  this.server?.onHandshakeDone();
}

function onEarlyRead(this: StreamHandle & { readonly server?: TlsServerStream }): void {
  this.server?.onEarlyEnd();
}

function onFirstBytes(this: CarryingHandle): void {
  this.server?.onFirstBytes();
}

const EMPTY = Buffer.alloc(0);
