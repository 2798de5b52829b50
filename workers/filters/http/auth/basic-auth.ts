/**
 * Lets requests pass whose user name and password are known. Source: envoy.filters.http.basic_auth,
 * RFC 7617.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type {
  BasicAuthOptions,
  BasicAuthPerRoute,
  BasicAuthFilterSettings,
} from '../../../../shared/resources/filters/http/auth/basic-auth.ts';
import { BASIC_AUTH } from '../../../../shared/resources/filters/http/auth/basic-auth.ts';
import { dictionary, type Struct } from '../../../../shared/text/dictionary.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { addMetadata } from '../../common/add-metadata.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';

interface BasicAuthParts {
  readonly name: string;
  readonly own: BasicAuthOptions;
  readonly context: FilterContext;
  readonly base: number;
  readonly users: CompiledSettings<BasicAuthPerRoute, ReadonlyMap<string, Buffer>>;
}

export function makeBasicAuthFilter(
  { name, options: own }: BasicAuthFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(BASIC_AUTH, `${context.statScope}basic_auth.`);
  context.onBlock(base);
  const users = new CompiledSettings(
    (settings: BasicAuthPerRoute) =>
      new Map([...settings.users].map(([user, hash]) => [user, Buffer.from(hash, 'base64')])),
  );
  const parts: BasicAuthParts = { name, own, context, base, users };
  return { name, create: (callbacks) => new BasicAuthFilter(parts, callbacks) };
}

const SCHEME = 'Basic ';
const METADATA = 'envoy.filters.http.basic_auth';

class BasicAuthFilter extends PassThroughFilter {
  readonly #parts: BasicAuthParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: BasicAuthParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, context, base, users } = this.#parts;
    const credentials = headers.get(own.authenticationHeader) ?? '';
    if (credentials === '' && own.allowsMissing) return 'continue';
    if (credentials === '') {
      return this.#refuse(headers, 'Missing username and password', 'no_credential');
    }
    if (!credentials.startsWith(SCHEME)) {
      return this.#refuse(headers, "Expected 'Basic' authentication scheme", 'invalid_scheme');
    }
    const text = Buffer.from(credentials.slice(SCHEME.length), 'base64').toString('latin1');
    const colon = text.indexOf(':');
    if (colon < 0) {
      return this.#refuse(headers, 'Invalid basic credential format', 'invalid_format');
    }
    const user = text.slice(0, colon);
    const ofRoute = this.#callbacks.routeConfig(name) as BasicAuthPerRoute | undefined;
    if (!isPassword(users.of(ofRoute ?? own).get(user), text.slice(colon + 1))) {
      const text401 = 'Invalid username/password combination';
      return this.#refuse(headers, text401, 'invalid_credential');
    }
    if (own.emitsMetadata) addMetadata(this.#callbacks.info, METADATA, userMetadata(user));
    if (own.forwardUsernameHeader !== '') headers.set(own.forwardUsernameHeader, user);
    context.stats.increment(base + BASIC_AUTH.index.allowed);
    return 'continue';
  }

  #refuse(headers: HeaderMap, reason: string, details: string): HeadersStatus {
    const { context, base } = this.#parts;
    context.stats.increment(base + BASIC_AUTH.index.denied);
    const { scheme, authority, path } = headers;
    const { name, own } = this.#parts;
    const ofRoute = this.#callbacks.routeConfig(name) as BasicAuthPerRoute | undefined;
    const named = ofRoute === undefined || ofRoute.realm === '' ? own.realm : ofRoute.realm;
    const address = `${scheme === '' ? 'http' : scheme}://${authority}${path}`;
    const realm = named === '' ? address : named;
    this.#callbacks.sendLocalReply({
      status: 401,
      body: `User authentication failed. ${reason}.`,
      details: `${details}_for_basic_auth`,
      modifyHeaders: (answer) =>
        answer.set('www-authenticate', `Basic realm="${realm.replaceAll('"', '%22')}"`),
    });
    return 'stop';
  }
}

function userMetadata(user: string): Struct {
  return dictionary([['username', Buffer.from(user, 'latin1').toString()]]);
}

function isPassword(expected: Buffer | undefined, password: string): boolean {
  const given = createHash('sha1').update(password, 'latin1').digest();
  return expected?.length === given.length && timingSafeEqual(expected, given);
}
