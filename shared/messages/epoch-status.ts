/**
 * What an epoch tells the process that started it (sluice-restarter), and what it is handed by it:
 * one JSON object per line on a pipe, and a few environment variables.
 */

/** The descriptor to write status lines to. Unset: nobody listens. */
export const STATUS_FD_VARIABLE = 'SLUICE_STATUS_FD';
/**
 * Listening sockets of the service manager, re-issued: how many, from descriptor 3 on. systemd's
 * own LISTEN_PID cannot be set for a process that is not there yet.
 */
export const LISTEN_FDS_VARIABLE = 'SLUICE_LISTEN_FDS';
/** The service manager's notify socket, for storing listening sockets and nothing else. */
export const STORE_SOCKET_VARIABLE = 'SLUICE_STORE_SOCKET';
/** The first re-issued descriptor. */
export const LISTEN_FDS_START = 3;

export type EpochStatus =
  /**
   * On every change of phase; `live` ends the start. Lost only with the pipe, hence the process.
   */
  | {
      readonly kind: 'phase';
      readonly phase:
        | 'loading'
        | 'warming'
        | 'initializing'
        | 'live'
        | 'draining'
        | 'terminating'
        | 'ended';
    }
  /** A line for people, shown by the service manager. */
  | { readonly kind: 'status'; readonly text: string }
  /** A drain goes on; the service manager's limit for a stop is to be moved. */
  | { readonly kind: 'extend_timeout'; readonly microseconds: number }
  /**
   * The supervisor's loop and all workers answered; sent while the service manager's watchdog is
   * on.
   */
  | { readonly kind: 'alive' };

/** Reads one line; undefined for one that is not a status of this build. */
export function parseEpochStatus(line: string): EpochStatus | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined;
  return hasItsFields(value) ? (value as EpochStatus) : undefined;
}

function hasItsFields(value: object & Record<'kind', unknown>): boolean {
  switch (value.kind) {
    case 'phase':
      return 'phase' in value && typeof value.phase === 'string';
    case 'status':
      return 'text' in value && typeof value.text === 'string';
    case 'extend_timeout':
      return 'microseconds' in value && typeof value.microseconds === 'number';
    default:
      return value.kind === 'alive';
  }
}
