/** What of the machine limits a server: descriptors, memory, processes, the kernel's settings, the clock. */
import { statSync } from 'node:fs';
import type { Finding } from './finding.ts';
import { readHost, readNumber } from './read-host.ts';

/** Two descriptors for each of 30,000 connections, and some more. */
const DESCRIPTORS_WANTED = 65_536;
const BACKLOG_WANTED = 4_096;
const PORTS_WANTED = 20_000;
const MEMORY_WANTED = 256 * 1024 * 1024;
const MEBIBYTE = 1024 * 1024;
/** No server was configured before that. */
const EARLIEST = Date.UTC(2024, 0, 1);

export function* hostFindings(now: number, configPaths: readonly string[]): Generator<Finding> {
  yield descriptorLimit(readHost('/proc/self/limits') ?? '');
  yield backlog(readNumber('/proc/sys/net/core/somaxconn'));
  yield localPorts(readHost('/proc/sys/net/ipv4/ip_local_port_range'));
  yield* controlGroup();
  yield clock(now, configPaths);
}

/** `limits` as /proc shows them; the hard limit counts, since a server raises its own to it. */
export function descriptorLimit(limits: string): Finding {
  const check = 'descriptors';
  const hard = /^Max open files +\S+ +(\S+)/m.exec(limits)?.[1];
  if (hard === undefined) return { check, health: 'unknown', found: 'the limit cannot be read' };
  const found = `the limit of open files is ${hard}`;
  if (hard === 'unlimited' || Number(hard) >= DESCRIPTORS_WANTED)
    return { check, health: 'ok', found };
  return {
    check,
    health: 'warning',
    found,
    cause: 'each connection takes a descriptor, and a proxied one takes two',
    cure: `LimitNOFILE=${DESCRIPTORS_WANTED} in the systemd unit, or ulimit -n ${DESCRIPTORS_WANTED}`,
  };
}

function backlog(most: number | undefined): Finding {
  const check = 'accept queue';
  if (most === undefined)
    return { check, health: 'unknown', found: 'net.core.somaxconn cannot be read' };
  const found = `net.core.somaxconn is ${most}`;
  if (most >= BACKLOG_WANTED) return { check, health: 'ok', found };
  return {
    check,
    health: 'warning',
    found,
    cause: 'more connections than that at once wait for another SYN, a second later',
    cure: `sysctl -w net.core.somaxconn=${BACKLOG_WANTED}`,
  };
}

function localPorts(range: string | undefined): Finding {
  const check = 'local ports';
  const [low, high] = (range ?? '').split(/\s+/).map(Number);
  if (low === undefined || high === undefined) {
    return { check, health: 'unknown', found: 'net.ipv4.ip_local_port_range cannot be read' };
  }
  const found = `net.ipv4.ip_local_port_range is ${low} to ${high}`;
  if (high - low >= PORTS_WANTED) return { check, health: 'ok', found };
  return {
    check,
    health: 'warning',
    found,
    cause: 'each connection to a host takes a port of its own',
    cure: 'sysctl -w net.ipv4.ip_local_port_range="1024 65535"',
  };
}

/** What systemd or a container runtime allows this process, which a server beside it shares. */
function* controlGroup(): Generator<Finding> {
  const check = 'control group';
  const path = /^0::(.*)$/m.exec(readHost('/proc/self/cgroup') ?? '')?.[1];
  const folder = `/sys/fs/cgroup${path ?? ''}`;
  const memory = readNumber(`${folder}/memory.max`) ?? readNumber('/sys/fs/cgroup/memory.max');
  const processes = readNumber(`${folder}/pids.max`) ?? readNumber('/sys/fs/cgroup/pids.max');
  if (memory === undefined && processes === undefined) {
    yield { check, health: 'ok', found: 'no limit of memory or processes is seen' };
    return;
  }
  if (memory !== undefined) {
    const found = `memory.max is ${Math.floor(memory / MEBIBYTE)} MiB`;
    const isEnough = memory >= MEMORY_WANTED;
    yield isEnough
      ? { check, health: 'ok', found }
      : {
          check,
          health: 'warning',
          found,
          cause: 'a supervisor and its workers take about 100 MiB each',
          cure: 'MemoryMax= of the systemd unit, or fewer workers with --concurrency',
        };
  }
  if (processes !== undefined) yield { check, health: 'ok', found: `pids.max is ${processes}` };
}

/** Certificates and tokens are judged by it. */
function clock(now: number, paths: readonly string[]): Finding {
  const check = 'clock';
  const found = `it is ${new Date(now).toISOString()}`;
  const cure = 'timedatectl set-ntp true';
  if (now < EARLIEST) {
    return {
      check,
      health: 'error',
      found,
      cause: 'the clock was not set: certificates are not yet valid',
      cure,
    };
  }
  const ahead = paths.find((path) => (modifiedMs(path) ?? 0) > now + 60_000);
  if (ahead !== undefined) {
    return { check, health: 'warning', found, cause: `${ahead} was written later than that`, cure };
  }
  const isKept = readHost('/run/systemd/timesync/synchronized') !== undefined;
  return { check, health: 'ok', found: isKept ? `${found}, kept by systemd-timesyncd` : found };
}

function modifiedMs(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
