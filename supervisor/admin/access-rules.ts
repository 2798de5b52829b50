/**
 * Who may ask what, beyond what Envoy checks: all of it off unless it is configured, except
 * that a mutation from a foreign origin is refused always. docs/admin-security.md describes them.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Options } from '../../shared/process/options.ts';
import { peerUid } from '../../shared/posix/sockets.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import { textResponse } from './http/responses.ts';

export interface AccessRules {
  /** Every mutation is refused. */
  readonly readOnly?: boolean;
  /** A GET may change the server, as in Envoy's oldest builds. */
  readonly isLegacy?: boolean;
  /** Requests must carry it as `authorization: Bearer …`. */
  readonly bearerToken?: string;
  /**
   * Host names, without ports, under which the interface may be asked for. A page elsewhere whose
   * name was pointed at this address (DNS rebinding) carries its own name.
   */
  readonly allowedHosts?: readonly string[];
  /** Users whose processes may connect to a unix socket; other connections are closed at once. */
  readonly allowedUids?: readonly number[];
}

/** The token's file is empty or cannot be read. */
export class AdminTokenError extends Error {
  readonly code = 'admin_token';
}

interface AskedHeaders {
  header(name: string): string;
}

/** From the command line. Throws AdminTokenError. */
export function accessRulesOf(
  options: Pick<
    Options,
    'adminReadOnly' | 'legacyAdmin' | 'adminTokenPath' | 'adminAllowedHosts' | 'adminAllowedUids'
  >,
): AccessRules {
  const { adminReadOnly, adminTokenPath, adminAllowedHosts, adminAllowedUids } = options;
  return {
    readOnly: adminReadOnly,
    isLegacy: options.legacyAdmin,
    ...(adminTokenPath === '' ? {} : { bearerToken: readBearerToken(adminTokenPath) }),
    ...(adminAllowedUids.length === 0 ? {} : { allowedUids: adminAllowedUids }),
    ...(adminAllowedHosts.length === 0
      ? {}
      : { allowedHosts: adminAllowedHosts.map((host) => host.trim().toLowerCase()) }),
  };
}

/** Whether the process at the other end of a unix socket may ask at all. */
export function mayConnect(socket: Socket, { allowedUids }: AccessRules): boolean {
  if (allowedUids === undefined || socket.remoteAddress !== undefined) return true;
  // Node keeps the descriptor to itself.
  const fd = (socket as { readonly _handle?: { readonly fd?: number } })._handle?.fd ?? -1;
  try {
    return allowedUids.includes(peerUid(fd));
  } catch {
    return false;
  }
}

/** Undefined: go on. */
export function refuseAccess(request: AskedHeaders, rules: AccessRules): AdminResponse | undefined {
  const host = request.header('host').replace(/:\d*$/, '').toLowerCase();
  if (rules.allowedHosts?.includes(host) === false) {
    return textResponse('The admin interface is not known under this host name.\n', 403);
  }
  if (rules.bearerToken !== undefined && !carriesToken(request, rules.bearerToken)) {
    return {
      ...textResponse('A bearer token is required.\n', 401),
      headers: { 'www-authenticate': 'Bearer' },
    };
  }
  return undefined;
}

/** Undefined: go on. */
export function refuseMutation(
  request: AskedHeaders,
  rules: AccessRules,
): AdminResponse | undefined {
  if (rules.readOnly === true) return textResponse('The admin interface is read-only.\n', 403);
  return isForeignOrigin(request)
    ? textResponse('Requests from other origins cannot change the server.\n', 403)
    : undefined;
}

/** The first line of the file. */
function readBearerToken(path: string): string {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as Error).message;
    throw new AdminTokenError(`cannot read the admin token: ${reason}`, { cause: error });
  }
  const token = content.split('\n')[0]?.trim() ?? '';
  if (token === '') throw new AdminTokenError(`cannot use the admin token: '${path}' is empty`);
  return token;
}

// Digests have the same length, so that the time of the comparison says nothing about the token.
function carriesToken(request: AskedHeaders, token: string): boolean {
  const [, scheme = '', given = ''] = /^(\S*) *(.*)$/.exec(request.header('authorization')) ?? [];
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return scheme.toLowerCase() === 'bearer' && timingSafeEqual(digest(given), digest(token));
}

// Browsers send Origin with every cross-site POST, tools do not: a page elsewhere that makes a
// browser post to the admin interface is refused, whatever the network lets through.
function isForeignOrigin(request: AskedHeaders): boolean {
  const origin = request.header('origin').toLowerCase();
  if (origin === '') return request.header('sec-fetch-site') === 'cross-site';
  const host = request.header('host').toLowerCase();
  return origin !== `http://${host}` && origin !== `https://${host}`;
}
