/** Where streams have their addresses from: from the socket below them, or from a bare handle. */
import type { StreamAddresses } from './byte-stream.ts';
import type { SocketName, StreamHandle } from './runtime-handles.ts';

/** A stream on something that knows its addresses. */
export class AddressedStream implements StreamAddresses {
  readonly #addresses: StreamAddresses;

  constructor(addresses: StreamAddresses) {
    this.#addresses = addresses;
  }

  get remoteAddress(): string | undefined {
    return this.#addresses.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.#addresses.remotePort;
  }

  get localAddress(): string | undefined {
    return this.#addresses.localAddress;
  }

  get localPort(): number | undefined {
    return this.#addresses.localPort;
  }
}

/** Asks the kernel once, when it is first asked for; a closed handle has none. */
export class HandleAddresses implements StreamAddresses {
  readonly #named: StreamHandle;
  #peer: SocketName | undefined = undefined;
  #own: SocketName | undefined = undefined;

  constructor(handle: StreamHandle) {
    this.#named = handle;
  }

  get remoteAddress(): string | undefined {
    return this.#peerName().address;
  }

  get remotePort(): number | undefined {
    return this.#peerName().port;
  }

  get localAddress(): string | undefined {
    return this.#ownName().address;
  }

  get localPort(): number | undefined {
    return this.#ownName().port;
  }

  #peerName(): SocketName {
    if (this.#peer === undefined) {
      this.#peer = {};
      this.#named.getpeername?.(this.#peer);
    }
    return this.#peer;
  }

  #ownName(): SocketName {
    if (this.#own === undefined) {
      this.#own = {};
      this.#named.getsockname?.(this.#own);
    }
    return this.#own;
  }
}
