/** Resolves envoy.extensions.filters.http.basic_auth.v3: users in htpasswd form, {SHA} only. */
import type {
  BasicAuth,
  BasicAuthPerRoute as PerRouteMessage,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/basic_auth/v3/basic_auth.ts';
import { toByteString } from '../../../../../shared/regex/byte-string.ts';
import type {
  BasicAuthPerRoute,
  BasicAuthFilterSettings,
} from '../../../../../shared/resources/filters/http/auth/basic-auth.ts';
import { isSkippedSecret, readDataSource, readFilledSource } from '../../../data-source.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const FIELDS = knownFields<BasicAuth>([
  'users',
  'forward_username_header',
  'authentication_header',
  'allow_missing',
  'emit_dynamic_metadata',
  'realm',
]);
const PER_ROUTE_FIELDS = knownFields<PerRouteMessage>(['users', 'realm']);

const BASIC_AUTH_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.basic_auth.v3.BasicAuthPerRoute';

export const BASIC_AUTH_FILTER = httpFilter(
  'envoy.filters.http.basic_auth',
  'envoy.extensions.filters.http.basic_auth.v3.BasicAuth',
  (message: BasicAuth, scope, name): BasicAuthFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const header = message.authentication_header ?? '';
    return {
      kind: 'basic_auth',
      name,
      options: {
        users: readUsers(message.users, scope, readFilledSource),
        forwardUsernameHeader: (message.forward_username_header ?? '').toLowerCase(),
        authenticationHeader: header === '' ? 'authorization' : header.toLowerCase(),
        allowsMissing: message.allow_missing ?? false,
        emitsMetadata: message.emit_dynamic_metadata ?? false,
        realm: toByteString(message.realm ?? ''),
      },
    };
  },
  perRoute(BASIC_AUTH_PER_ROUTE_TYPE, resolveUsers),
);

function resolveUsers(message: PerRouteMessage, scope: Scope): BasicAuthPerRoute {
  refuseOtherFields(message, PER_ROUTE_FIELDS, scope);
  // Envoy takes an empty list of users for a route: nobody is let in there.
  const read: ReadUsers = (source, place) => source && readDataSource(source, place);
  const realm = toByteString(message.realm ?? '');
  return { users: readUsers(message.users, scope, read), realm };
}

const HASH_PREFIX = '{SHA}';
/** A SHA-1 in base64. */
const HASH_LENGTH = 28;

type ReadUsers = (source: BasicAuth['users'], scope: Scope) => Buffer | undefined;

function readUsers(
  source: BasicAuth['users'],
  scope: Scope,
  read: ReadUsers,
): BasicAuthPerRoute['users'] {
  const place = scope.at('users');
  if (isSkippedSecret(source, scope)) return new Map();
  const text = read(source, place)?.toString('latin1') ?? '';
  const users = new Map<string, string>();
  for (const line of text.split(/\r?\n/).map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const problem = addUser(users, line);
    if (problem !== undefined) place.error('conflict', `basic auth: ${problem}`);
  }
  return users;
}

/** Says what is wrong with the line, if anything is. */
function addUser(users: Map<string, string>, line: string): string | undefined {
  const colon = line.indexOf(':');
  if (colon < 0) return 'invalid htpasswd format, username:password is expected';
  const name = line.slice(0, colon);
  const hash = line.slice(colon + 1);
  if (name === '' || hash === '') return 'empty user name or password is not allowed';
  if (users.has(name)) return 'duplicate users';
  if (!hash.startsWith(HASH_PREFIX)) return 'unsupported htpasswd format: please use {SHA}';
  const digest = hash.slice(HASH_PREFIX.length);
  if (digest.length !== HASH_LENGTH) return 'invalid htpasswd format, invalid SHA hash length';
  users.set(name, digest);
  return undefined;
}
