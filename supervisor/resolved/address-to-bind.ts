/** An address that listening sockets are bound to. Types only. */
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { SocketOption } from '../../shared/addresses/socket-options.ts';

/** One address as configured. */
export interface AddressToBind {
  /** Port 0: the kernel chooses. A path that begins with `@` is abstract. */
  readonly address: BoundAddress;
  /** IPv6 only: IPv4 clients are taken too. */
  readonly ipv4Compat: boolean;
  /** Permission bits of a unix socket's file; 0 leaves what umask makes. */
  readonly mode: number;
  /** In the order in which they are set. */
  readonly options?: readonly SocketOption[];
  /** Multipath TCP. */
  readonly isMultipath?: true;
  /** The service manager made the socket, and removes its file. */
  readonly isExternal?: boolean;
}
