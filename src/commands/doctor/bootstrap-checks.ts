/** What a bootstrap needs of the machine that it is started on. */
import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { systemClock } from '../../../shared/process/clock.ts';
import type { Finding } from './finding.ts';
import { describeHolder, holderOfPort } from './port-holders.ts';
import { readNumber } from './read-host.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NEAR_EXPIRY_DAYS = 30;
/** The size of sockaddr_un, without its last byte. */
const SOCKET_PATH_MAX = 107;
const LOOKUP_LIMIT_MS = 3_000;
/** Names that are looked up. */
const NAMES_MAX = 100;
const FILE_MAX = 1024 * 1024;

export async function* bootstrapFindings(
  bootstrap: JsonObject,
  options: { readonly now: number; readonly hasToken: boolean },
): AsyncGenerator<Finding> {
  yield* adminFindings(bootstrap, options.hasToken);
  for (const address of listenerAddresses(bootstrap)) yield* addressFindings(address);
  yield* certificateFindings(bootstrap, options.now);
  yield* nameFindings(bootstrap);
}

function* adminFindings(bootstrap: JsonObject, hasToken: boolean): Generator<Finding> {
  const check = 'admin interface';
  const address = objectAt(bootstrap, 'admin', 'address', 'socket_address');
  if (address === undefined) {
    yield { check, health: 'ok', found: 'it has no port' };
    return;
  }
  const { address: ip = '', port_value: port = 0 } = address;
  const found = `it listens on ${text(ip)}:${text(port)}`;
  const isOwn = /^(127\.|::1$|localhost$)/.test(text(ip));
  if (isOwn || hasToken) yield { check, health: 'ok', found };
  else {
    yield {
      check,
      health: 'warning',
      found,
      cause: 'whoever reaches it can end the server and read its configuration',
      cure: 'listen on 127.0.0.1 or a unix socket, or give --admin-token-path',
    };
  }
  yield* addressFindings(objectAt(bootstrap, 'admin', 'address') ?? {});
}

function* listenerAddresses(bootstrap: JsonObject): Generator<JsonObject> {
  for (const listener of listAt(bootstrap, 'static_resources', 'listeners')) {
    const { address, additional_addresses: more } = listener;
    if (isObject(address)) yield address;
    for (const each of Array.isArray(more) ? (more as readonly JsonObject[]) : []) {
      const further = objectAt(each, 'address');
      if (further !== undefined) yield further;
    }
  }
}

function* addressFindings(address: JsonObject): Generator<Finding> {
  const socket = objectAt(address, 'socket_address');
  const pipe = objectAt(address, 'pipe');
  if (pipe !== undefined) yield pipeFinding(text(pipe['path'] ?? ''));
  if (socket === undefined || text(socket['protocol'] ?? '') === 'UDP') return;
  const port = Number(socket['port_value'] ?? 0);
  if (port !== 0) yield portFinding(port);
}

function portFinding(port: number): Finding {
  const check = `port ${port}`;
  const holder = holderOfPort(port);
  if (holder !== undefined) {
    return {
      check,
      health: 'error',
      found: 'it is taken',
      cause: `${describeHolder(holder)} listens on it`,
      cure: 'end that process, choose another port, or start with --restart-epoch if it is the server before',
    };
  }
  const lowest = readNumber('/proc/sys/net/ipv4/ip_unprivileged_port_start') ?? 1024;
  if (port >= lowest || process.getuid?.() === 0)
    return { check, health: 'ok', found: 'it is free' };
  return {
    check,
    health: 'warning',
    found: 'it is free, but below those that everybody may use',
    cause: `the user ${process.getuid?.()} may bind ports from ${lowest} on`,
    cure: 'AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or sockets of a systemd socket unit',
  };
}

function pipeFinding(path: string): Finding {
  const check = `socket ${path}`;
  if (path.startsWith('@')) return { check, health: 'ok', found: 'it is an abstract name' };
  if (Buffer.byteLength(path) > SOCKET_PATH_MAX) {
    return {
      check,
      health: 'error',
      found: `its path is longer than ${SOCKET_PATH_MAX} bytes`,
      cause: 'the kernel has no room for more',
      cure: 'a shorter path',
    };
  }
  try {
    accessSync(dirname(path), constants.W_OK);
  } catch {
    return {
      check,
      health: 'error',
      found: 'it cannot be made',
      cause: `${dirname(path)} is not there, or may not be written`,
      cure: 'make the folder (RuntimeDirectory= of a unit does), or give the user the right to it',
    };
  }
  return {
    check,
    health: 'ok',
    found: existsSync(path) ? 'its path is there already and is replaced' : 'it can be made',
  };
}

function* certificateFindings(bootstrap: JsonObject, now: number): Generator<Finding> {
  const seen = new Set<string>();
  for (const chain of valuesOf(bootstrap, 'certificate_chain')) {
    const file = isObject(chain) ? chain['filename'] : undefined;
    const inline = isObject(chain) ? chain['inline_string'] : undefined;
    const name = typeof file === 'string' ? file : 'given inline';
    if (typeof file === 'string' && seen.has(file)) continue;
    seen.add(name);
    const pem = typeof file === 'string' ? readPem(file) : inline;
    yield certificateFinding(name, typeof pem === 'string' ? pem : undefined, now);
  }
}

export function certificateFinding(name: string, pem: string | undefined, now: number): Finding {
  const check = `certificate ${name}`;
  const renew =
    'renew it; files that are replaced are used without a restart where they come by SDS';
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem ?? '');
  } catch {
    const cause = 'the file is not there, may not be read, or is no PEM certificate';
    return {
      check,
      health: 'error',
      found: 'it cannot be read',
      cause,
      cure: `put a certificate there`,
    };
  }
  const ends = Date.parse(certificate.validTo);
  const begins = Date.parse(certificate.validFrom);
  const until = `it is valid until ${new Date(ends).toISOString()}`;
  if (ends <= now)
    return { check, health: 'error', found: 'it has expired', cause: until, cure: renew };
  if (begins > now) {
    const cause = `it is valid from ${new Date(begins).toISOString()} on`;
    return {
      check,
      health: 'error',
      found: 'it is not valid yet',
      cause,
      cure: 'set the clock, or wait',
    };
  }
  const days = Math.floor((ends - now) / DAY_MS);
  if (days >= NEAR_EXPIRY_DAYS)
    return { check, health: 'ok', found: `it is valid for ${days} days` };
  return {
    check,
    health: 'warning',
    found: `it expires in ${days} days`,
    cause: until,
    cure: renew,
  };
}

function readPem(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    return bytes.length <= FILE_MAX ? bytes.toString('latin1') : undefined;
  } catch {
    return undefined;
  }
}

/** Names of hosts that the bootstrap's clusters look up. */
async function* nameFindings(bootstrap: JsonObject): AsyncGenerator<Finding> {
  const names = new Set<string>();
  for (const cluster of listAt(bootstrap, 'static_resources', 'clusters')) {
    const { type } = cluster;
    if (type !== 'STRICT_DNS' && type !== 'LOGICAL_DNS') continue;
    for (const socket of valuesOf(cluster['load_assignment'] ?? null, 'socket_address')) {
      const name = isObject(socket) ? socket['address'] : undefined;
      if (typeof name === 'string' && names.size < NAMES_MAX) names.add(name);
    }
  }
  yield* await Promise.all([...names].map(async (name) => nameFinding(name)));
}

async function nameFinding(name: string): Promise<Finding> {
  const check = `name ${name}`;
  const late = new Promise<'late'>((resolve) => {
    systemClock.after(LOOKUP_LIMIT_MS, () => resolve('late'), { unref: true });
  });
  const cure = 'correct the name, or the servers in /etc/resolv.conf';
  try {
    const found = await Promise.race([lookup(name, { all: true }), late]);
    if (found === 'late') {
      const cause = 'no name server answers';
      return {
        check,
        health: 'error',
        found: `no answer within ${LOOKUP_LIMIT_MS} ms`,
        cause,
        cure,
      };
    }
    return { check, health: 'ok', found: found.map(({ address }) => address).join(', ') };
  } catch (error) {
    return {
      check,
      health: 'error',
      found: 'it has no address',
      cause: (error as Error).message,
      cure,
    };
  }
}

/** Every value of the field, wherever it is. */
function* valuesOf(root: JsonValue, name: string): Generator<JsonValue> {
  const waiting: JsonValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, each] of Object.entries(value)) {
      if (key === name) yield each as JsonValue;
      waiting.push(each as JsonValue);
    }
  }
}

function objectAt(root: JsonObject, ...path: readonly string[]): JsonObject | undefined {
  let value: JsonValue | undefined = root;
  for (const name of path) {
    if (!isObject(value)) return undefined;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return isObject(value) ? value : undefined;
}

function listAt(root: JsonObject, field: string, list: string): readonly JsonObject[] {
  const found = objectAt(root, field)?.[list];
  return Array.isArray(found) ? (found as readonly JsonObject[]) : [];
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
