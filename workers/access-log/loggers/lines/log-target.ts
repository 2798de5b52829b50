/**
 * Where the lines of a log go, as a descriptor. Knows the paths that mean a descriptor which the
 * process has anyway (opening those fails when it is a socket, as under systemd), and opens pipes
 * so that nobody has to read them yet.
 */
import { fstatSync, open, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { appendFlags } from '../../../../shared/process/append-flags.ts';

import type { LineLogConfig } from '../../../../shared/resources/access-loggers/lines.ts';

export interface LogTarget {
  readonly fd: number;
  /** Writes of whole lines up to this size are never mixed with those of others. */
  readonly isPipe: boolean;
  /** Somebody looks: each line is written at once. */
  readonly isTerminal: boolean;
  /** Absent: a descriptor that was inherited, which is neither reopened nor closed. */
  readonly path?: string;
}

type Sink = LineLogConfig['sink'];

const STDOUT = 1;
const STDERR = 2;

const INHERITED: ReadonlyMap<string, number> = new Map([
  ['/dev/stdout', STDOUT],
  ['/dev/stderr', STDERR],
  ['/proc/self/fd/1', STDOUT],
  ['/proc/self/fd/2', STDERR],
]);

/** What two sinks have in common when their lines go to the same place. */
export function targetKey(sink: Sink): string {
  const fd = inheritedDescriptor(sink);
  return fd === undefined && sink.kind === 'file' ? sink.path : `fd ${fd ?? STDOUT}`;
}

/** Throws the system's error when the file cannot be opened. */
export function openTarget(sink: Sink): LogTarget {
  const inherited = inheritedDescriptor(sink);
  if (inherited !== undefined || sink.kind !== 'file') {
    const fd = inherited ?? STDOUT;
    return { fd, ...kindOf(fd) };
  }
  const fd = openSync(sink.path, appendFlags(sink.path), FILE_MODE);
  return { fd, ...kindOf(fd), path: sink.path };
}

/** Opens a file again without keeping the loop waiting. */
export function reopenTarget(
  path: string,
  done: (error: Error | undefined, target: LogTarget | undefined) => void,
): void {
  open(path, appendFlags(path), FILE_MODE, (error, fd) => {
    if (error !== null) done(error, undefined);
    else done(undefined, { fd, ...kindOf(fd), path });
  });
}

const FILE_MODE = 0o644;

function inheritedDescriptor(sink: Sink): number | undefined {
  switch (sink.kind) {
    case 'stdout':
      return STDOUT;
    case 'stderr':
      return STDERR;
    case 'file':
      return INHERITED.get(sink.path);
  }
}

function kindOf(fd: number): Pick<LogTarget, 'isPipe' | 'isTerminal'> {
  const stat = fstatSync(fd);
  return { isPipe: stat.isFIFO() || stat.isSocket(), isTerminal: isatty(fd) };
}
