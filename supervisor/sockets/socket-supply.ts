/**
 * Where sockets of listeners come from before any is made: from the epoch before, and from the
 * service manager.
 */
import { bindingName } from '../../shared/addresses/print-address.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import type { ResolvedListener } from '../resolved/resolved-bootstrap.ts';
import type { Activation } from './activation.ts';

/** Gives the sockets that the epoch before has for an address such as `tcp://127.0.0.1:80`. */
export type TakeSockets = (address: string) => Promise<readonly number[]>;

export class SocketSupply {
  readonly #activation: Activation;
  /** While the epoch before is there. */
  #take: TakeSockets = () => Promise.resolve([]);
  #isParentThere: () => boolean = () => false;

  constructor(activation: Activation) {
    this.#activation = activation;
  }

  /** From now on sockets come from the epoch before where it has them. */
  follow(take: TakeSockets, isParentThere: () => boolean): void {
    this.#take = take;
    this.#isParentThere = isParentThere;
  }

  /** The epoch before has the same sockets, and accepts on them again where this one ends. */
  get isParentThere(): boolean {
    return this.#isParentThere();
  }

  /** Listeners with the addresses that the service manager gave them. */
  withAddresses(listeners: readonly ResolvedListener[]): readonly ResolvedListener[] {
    return this.#activation.apply(listeners);
  }

  /** By address: what the service manager has. */
  given(listener: ResolvedListener): readonly (readonly number[])[] {
    return addressesOf(listener).map(({ text }) => this.#activation.take(text));
  }

  /** By address: what the epoch before has, else the service manager. Rejects as `take` does. */
  async taken(listener: ResolvedListener): Promise<readonly (readonly number[])[]> {
    const taken: (readonly number[])[] = [];
    try {
      for (const { text, isOwn } of addressesOf(listener)) {
        taken.push(isOwn ? [] : await this.#preferParent(text));
      }
      return taken;
    } catch (error) {
      taken.flat().forEach(closeDescriptor);
      throw error;
    }
  }

  /** What the service manager gave and no listener wanted is closed. */
  closeRest(): void {
    this.#activation.closeRest();
  }

  /** What the epoch before has is the same sockets, and more. */
  async #preferParent(address: string): Promise<readonly number[]> {
    const taken = await this.#take(address);
    const given = this.#activation.take(address);
    if (taken.length === 0) return given;
    given.forEach(closeDescriptor);
    return taken;
  }
}

/** `isOwn`: port 0 is a port of one's own. */
function addressesOf({
  addresses,
}: ResolvedListener): readonly { readonly text: string; readonly isOwn: boolean }[] {
  return addresses.map(({ address }) => {
    const isOwn = address.kind === 'ip' && address.port === 0;
    return { text: bindingName(address), isOwn };
  });
}
