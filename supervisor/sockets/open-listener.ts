/** One listener with its sockets, and what keeps another from having the same addresses. */
import { bindingName, printAddress } from '../../shared/addresses/print-address.ts';
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { ResolvedListener } from '../resolved/resolved-bootstrap.ts';
import { ListeningSockets } from './listening-sockets.ts';

export interface OpenListener {
  readonly resource: ListenerResource;
  readonly sockets: ListeningSockets;
  isStopped: boolean;
  /** Workers have its configuration, so that they can accept. */
  isKnown: boolean;
}

/** A version of a listener whose sockets are bound and that is not in force yet. */
export interface PreparedListener {
  readonly resource: ListenerResource;
  readonly sockets: ListeningSockets;
  /** They are those of the version before it. */
  readonly keepsSockets: boolean;
}

/** Why a listener cannot be prepared; `isBinding`: its sockets are the reason. */
export interface Unprepared {
  readonly refusal: string;
  readonly isBinding: boolean;
}

export interface ListenerState {
  readonly name: string;
  readonly addresses: readonly BoundAddress[];
  /** Only this server's own workers connect to it. */
  readonly isInternal: boolean;
}

/** Throws `BindError`. */
export function bindListener(
  listener: ResolvedListener,
  workers: number,
  taken: readonly (readonly number[])[],
): Pick<OpenListener, 'resource' | 'sockets'> {
  const { name } = listener.resource;
  const sockets = ListeningSockets.bind({ name, ...listener, taken }, workers);
  return { resource: boundResource(listener, sockets), sockets };
}

/** With the addresses that were bound; one that binds nothing keeps those that it is meant for. */
export function boundResource(
  { resource, addresses }: ResolvedListener,
  sockets: ListeningSockets,
): ListenerResource {
  return addresses.length === 0 ? resource : { ...resource, addresses: sockets.addresses };
}

/** Another listener's address, in Envoy's words. */
export function addressConflict(
  { resource, addresses }: ResolvedListener,
  accepting: readonly OpenListener[],
): string | undefined {
  for (const { address } of addresses) {
    if (address.kind === 'ip' && address.port === 0) continue;
    const text = printAddress(address);
    for (const other of accepting) {
      if (other.resource.name === resource.name) continue;
      if (other.sockets.socketsFor(bindingName(address)).length === 0) continue;
      return `error adding listener: '${resource.name}' has duplicate address '${text}' as existing listener, to check if the listener has duplicated addresses with other listeners or 'enable_reuse_port' is set to 'false' for the listener`;
    }
  }
  return undefined;
}
