/**
 * Which listener gets which socket of the service manager: by name where the socket has the name of
 * a listener, by address otherwise. A listener whose socket came from there has that socket's
 * address, whatever its configuration says.
 */
import { bindingName, printAddress } from '../../shared/addresses/print-address.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { localAddress } from '../../shared/posix/sockets.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { ListenDescriptor } from '../../shared/systemd/listen-descriptors.ts';
import type { ResolvedListener } from '../resolved/resolved-bootstrap.ts';
import type { AddressToBind } from '../resolved/address-to-bind.ts';

interface Given extends ListenDescriptor {
  readonly address: BoundAddress;
}

export class Activation {
  readonly #given: Given[];
  /** What a listener's configured address was replaced with, for later versions of it. */
  readonly #applied = new Map<string, Pick<AddressToBind, 'address' | 'isExternal'>>();
  readonly #log: (text: string) => void;

  constructor(descriptors: readonly ListenDescriptor[], log: (text: string) => void) {
    this.#log = log;
    this.#given = descriptors.flatMap((descriptor) => {
      const address = localAddress(descriptor.fd);
      if (address !== undefined) return [{ ...descriptor, address }];
      log(`a socket of the service manager has no address: ${descriptor.name}`);
      closeDescriptor(descriptor.fd);
      return [];
    });
  }

  /** The listeners with the addresses that they will have. */
  apply(listeners: readonly ResolvedListener[]): readonly ResolvedListener[] {
    return listeners.map((listener) => ({
      ...listener,
      addresses: listener.addresses.map((plan) => this.#planOf(listener, plan)),
    }));
  }

  /** Gives the sockets of an address such as `tcp://127.0.0.1:80` away. */
  take(address: string): readonly number[] {
    const found = this.#given.filter((given) => bindingName(given.address) === address);
    for (const given of found) this.#given.splice(this.#given.indexOf(given), 1);
    return found.map(({ fd }) => fd);
  }

  /** Sockets that no listener wants are closed here; the service manager still has its own. */
  closeRest(): void {
    for (const { fd, name, address } of this.#given.splice(0)) {
      this.#log(`no listener takes the socket ${name} at ${printAddress(address)}`);
      closeDescriptor(fd);
    }
  }

  #planOf({ resource, addresses }: ResolvedListener, plan: AddressToBind): AddressToBind {
    // Sockets of the service manager are those of streams.
    if (plan.address.kind === 'ip' && plan.address.isDatagram === true) return plan;
    const wanted = printAddress(plan.address);
    const key = `${resource.name} ${wanted}`;
    const applied = this.#applied.get(key);
    if (applied !== undefined) return { ...plan, ...applied };
    const named = this.#given.filter(({ name }) => name === resource.name);
    const exact = [...named, ...this.#given].find(
      ({ address }) => printAddress(address) === wanted,
    );
    const found = exact ?? (addresses.length === 1 ? named[0] : undefined);
    if (found === undefined) return plan;
    const own = { address: found.address, isExternal: true } as const;
    this.#applied.set(key, own);
    return { ...plan, ...own };
  }
}
