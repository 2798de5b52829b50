/**
 * A byte stream over the server's side of TLS on the runtime's handles, without the sockets of
 * node:net and node:tls: what they cost is more than half of what OpenSSL needs for a handshake
 * with an ECDSA certificate (docs/performance.md). Whom to trust and what to count is its
 * handshake's to know.
 */
import { EncryptedStream, type EncryptedStreamOptions } from './encrypted-stream.ts';
import type { StreamHandle } from './runtime-handles.ts';
import type { InnerContext, RuntimeTls, TlsHandle } from './runtime-tls.ts';
import type { TlsCarrier } from './tls-carrier.ts';

/** One connection's handshake as its configuration wants it. */
export interface ServerHandshake {
  readonly context: InnerContext;
  readonly asksPeer: boolean;
  readonly refusesMissingPeer: boolean;
  /** Names with their lengths before them; undefined: none is answered. */
  readonly alpn: Buffer | undefined;
  /** By the server name that the client asks for; absent where the context is the only one. */
  readonly choose: ((serverName: string) => InnerContext) | undefined;
  /** The handshake is done; an error refuses the peer. */
  onSecure(handle: TlsHandle): Error | undefined;
  /** It failed, by the protocol. */
  onFailure(error: NodeJS.ErrnoException): void;
  /** In any case, once. */
  onEnd(): void;
}

export interface TlsGround {
  readonly carrier: TlsCarrier;
  /** Of the carrier. */
  readonly handle: StreamHandle;
  readonly runtime: RuntimeTls;
}

interface OwnedTlsHandle extends TlsHandle {
  server?: TlsServerStream;
}

/** Keeps the TLS layer alive as long as the stream beneath it. */
interface CarryingHandle extends StreamHandle {
  tls?: TlsHandle;
}

export class TlsServerStream extends EncryptedStream {
  private readonly tls: OwnedTlsHandle;
  private readonly carrier: TlsCarrier;
  private readonly handshake: ServerHandshake;
  private isSecure = false;
  /** OpenSSL calls and is not to be taken away. */
  private isWithinHandshake = false;
  private isClosed = false;
  private wasEndSent = false;
  private isEndBegun = false;

  constructor(
    { carrier, handle: beneath, runtime }: TlsGround,
    handshake: ServerHandshake,
    options: EncryptedStreamOptions,
  ) {
    super(carrier.addresses, options);
    this.carrier = carrier;
    this.handshake = handshake;
    const stream: CarryingHandle = beneath;
    // What was read before is the TLS layer's: it is taken before that one reads.
    const early = carrier.takeEarly();
    const handle: OwnedTlsHandle = runtime.wrapServer(stream, handshake.context);
    this.tls = handle;
    stream.tls = handle;
    handle.server = this;
    handle.onread = onEarlyRead;
    handle.onerror = onError;
    handle.onhandshakedone = onHandshakeDone;
    if (handshake.asksPeer) handle.setVerifyMode(true, handshake.refusesMissingPeer);
    if (handshake.alpn !== undefined) handle.setALPNProtocols(handshake.alpn);
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
    if (early.length === 0) handle.readStart();
    else process.nextTick(() => this.begin(early));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.isWithinHandshake) {
      this.carrier.close(() => this.tls.destroySSL());
    } else {
      this.tls.destroySSL();
      this.carrier.close();
    }
    this.dropWrites();
    this.handshake.onEnd();
  }

  /** The handshake ends before it is done, or what follows it breaks. */
  onError(error: NodeJS.ErrnoException): void {
    if (this.isClosed) return;
    if (!this.isSecure) this.handshake.onFailure(error);
    this.finish(error);
  }

  onHandshakeDone(): void {
    // Said again when keys are renewed.
    if (this.isSecure || this.isClosed) return;
    this.isSecure = true;
    this.isWithinHandshake = true;
    let refusal: Error | undefined;
    try {
      refusal = this.handshake.onSecure(this.tls);
    } catch (error) {
      this.owner.onStreamException(error);
      return;
    }
    if (refusal !== undefined) this.finish(refusal);
    else if (!this.isClosed) this.takeHandle(this.tls);
    this.isWithinHandshake = false;
  }

  protected get isOver(): boolean {
    return this.isClosed;
  }

  protected get hasEnded(): boolean {
    return this.wasEndSent;
  }

  protected sendEnd(): void {
    if (this.isEndBegun || this.isClosed) return;
    this.isEndBegun = true;
    const request = this.options.handles.newShutdown();
    request.oncomplete = () => this.onEndSent();
    const status = this.tls.shutdown(request);
    // 1: done already. An error: the peer is gone, which reading reports.
    if (status !== 0) process.nextTick(() => this.onEndSent());
  }

  protected finish(error: NodeJS.ErrnoException | undefined): void {
    if (this.isClosed) return;
    this.close();
    this.owner.onStreamClose(error);
  }

  /** The client ends in the middle of the handshake. */
  onEarlyEnd(): void {
    this.finish(undefined);
  }

  private begin(early: readonly Buffer[]): void {
    for (const piece of early) if (!this.isClosed) this.tls.receive(piece);
    if (!this.isClosed) this.tls.readStart();
  }

  private onEndSent(): void {
    this.wasEndSent = true;
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
