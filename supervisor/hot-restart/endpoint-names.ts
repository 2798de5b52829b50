/**
 * Where the epochs of one base id meet: names of sockets and of the shared memory object. Source:
 * Envoy's names, seen in /proc/net/unix and /dev/shm.
 */
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';

/** At most three epochs live at a time: the oldest ends when the third starts. */
const EPOCHS_AT_A_TIME = 3;
/** Base ids are multiplied, so that the epochs of neighbouring ids do not meet. */
const IDS_PER_BASE_ID = 10;

export type EndpointRole = 'parent' | 'child' | 'udp_parent' | 'udp_child';

export interface Meeting {
  readonly baseId: number;
  /** `--socket-path`; a leading `@` means the abstract namespace. */
  readonly socketPath: string;
}

/** `<socket-path>_<role>_<base id × 10 + epoch modulo 3>`. */
export function endpointAddress(
  meeting: Meeting,
  role: EndpointRole,
  epoch: number,
): UnixSocketAddress {
  const id = meeting.baseId * IDS_PER_BASE_ID + (epoch % EPOCHS_AT_A_TIME);
  const path = `${meeting.socketPath}_${role}_${id}`;
  return path.startsWith('@') ? { kind: 'pipe', path, padded: true } : { kind: 'pipe', path };
}

export function sharedMemoryName(baseId: number): string {
  return `/envoy_shared_memory_${baseId * IDS_PER_BASE_ID}`;
}
