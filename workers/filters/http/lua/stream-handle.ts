/** The handle that a script's function is given: everything that it may do with its stream. */
import { isIP } from '../../../../shared/addresses/ip-text.ts';
import { MICROSECOND, MILLISECOND } from '../../../../shared/lua/stream-globals.ts';
import {
  LuaFunction,
  type LuaValue,
  NO_VALUES,
  type Running,
} from '../../../../shared/lua/values.ts';
import type { Struct } from '../../../../shared/text/dictionary.ts';
import { PublicKeyObject, publicKeyMethods, verifySignature } from './crypto-object.ts';
import { HeaderObject, type HeaderRights } from './header-object.ts';
import { type CallWish, readCall, readHeaders, type TableHeaders } from './call-request.ts';
import {
  ConnectionObject,
  ConnectionStreamInfoObject,
  type InfoMethods,
  MetadataObject,
  StreamInfoObject,
} from './info-objects.ts';
import type { SideParts } from './side-parts.ts';
import { type StatsMethods, StatsObject } from './stats-object.ts';
import { type MethodMaker, type Methods, type Scope, StreamObject } from './stream-object.ts';

/** What a script waits for, or wants done at once. */
export type Wish =
  | { readonly kind: 'body'; readonly wrapsNone: boolean }
  | { readonly kind: 'chunk' }
  | { readonly kind: 'trailers' }
  | { readonly kind: 'call'; readonly call: CallWish }
  | {
      readonly kind: 'respond';
      readonly headers: TableHeaders;
      readonly status: number;
      readonly body: string;
    };

/** One direction of a stream, as its handle sees it. */
export interface HandledSide {
  readonly parts: SideParts;
  readonly headers: HeaderRights & {
    readonly map: ConstructorParameters<typeof HeaderObject>[2]['headers'];
  };
  /** Why the body cannot be had any more, undefined where it can. */
  bodyProblem(method: string): string | undefined;
  respondProblem(): string | undefined;
}

export class StreamHandle extends StreamObject {
  readonly side: HandledSide;
  /** Made once each: scripts may compare them, and an iteration is known to go on. */
  headers: HeaderObject | undefined = undefined;

  constructor(methods: Methods, scope: Scope, side: HandledSide) {
    super(methods, scope);
    this.side = side;
  }
}

export interface HandleParts extends InfoMethods {
  readonly headers: Methods;
  readonly stats: StatsMethods;
}

export function handleMethods(maker: MethodMaker, parts: HandleParts): Methods {
  return maker.methods<StreamHandle>(
    StreamHandle,
    {
      ...readingMethods(parts),
      ...routeMethods(maker, parts),
      ...cryptoMethods(maker),
      ...timeMethods(maker),
    },
    waitingMethods(maker),
  );
}

type Members = Parameters<typeof MethodMaker.prototype.methods<StreamHandle>>[1];

function readingMethods(parts: HandleParts): Members {
  return {
    headers: (self) => {
      const { side } = self;
      self.headers ??= new HeaderObject(parts.headers, self.scope, {
        headers: side.headers.map,
        rights: side.headers,
      });
      return self.headers;
    },
    requestHeaders: ({ side, scope }) => {
      const headers = side.parts.callbacks.info.requestHeaders;
      if (headers === undefined) return NO_VALUES;
      const rights = { canChange: () => false, onChange: () => undefined };
      return new HeaderObject(parts.headers, scope, { headers, rights });
    },
    metadata: ({ side, scope }) => {
      const metadata = side.parts.callbacks.route?.metadata?.[side.parts.filterName];
      return new MetadataObject(parts.metadata, scope, metadata);
    },
    streamInfo: ({ side, scope }) =>
      new StreamInfoObject(parts.streamInfo, scope, {
        info: side.parts.callbacks.info,
        drain: () => side.parts.drain(),
      }),
    connectionStreamInfo: ({ side, scope }) =>
      new ConnectionStreamInfoObject(parts.connectionStreamInfo, scope, side.parts.callbacks.info),
    connection: ({ side, scope }) =>
      new ConnectionObject(parts.connection, scope, side.parts.callbacks.info),
    filterContext: ({ side, scope }) =>
      new MetadataObject(parts.metadata, scope, side.parts.filterContext),
    stats: ({ scope }) => new StatsObject(parts.stats, scope),
  };
}

class RouteObject extends StreamObject {
  readonly values: Struct | undefined;

  constructor(methods: Methods, scope: Scope, values: Struct | undefined) {
    super(methods, scope);
    this.values = values;
  }
}

function routeMethods(maker: MethodMaker, parts: HandleParts): Members {
  const { check, state } = maker;
  const withMetadata = maker.methods<RouteObject>(RouteObject, {
    metadata: ({ values, scope }) => new MetadataObject(parts.metadata, scope, values),
  });
  return {
    route: ({ side, scope }) =>
      new RouteObject(
        withMetadata,
        scope,
        side.parts.callbacks.route?.metadata?.[side.parts.filterName],
      ),
    virtualHost: ({ side, scope }) =>
      new RouteObject(
        withMetadata,
        scope,
        side.parts.callbacks.route?.virtualHost.metadata?.[side.parts.filterName],
      ),
    clearRouteCache: ({ side }) => {
      side.parts.callbacks.clearRoute();
      return NO_VALUES;
    },
    setUpstreamOverrideHost: ({ side }, args) => {
      const address = check.text(args, 1);
      const isStrict = args[2] === undefined ? false : check.boolean(args, 2);
      if (!isAddress(address)) throw state.hostFailure('host is not a valid IP address');
      side.parts.callbacks.info.overrideHost = { address, isStrict };
      return NO_VALUES;
    },
  };
}

/** With a port or without one. */
function isAddress(text: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(bracketed ?? plain ?? text) !== 0;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function cryptoMethods(maker: MethodMaker): Members {
  const { check, state } = maker;
  const keys = publicKeyMethods(maker);
  return {
    base64Escape: (_self, args) => {
      const text = check.text(args, 1);
      state.charge(text.length * 2);
      return Buffer.from(text, 'latin1').toString('base64');
    },
    base64Decode: (_self, args) => {
      const text = check.text(args, 1);
      if (!BASE64.test(text)) return undefined;
      state.charge(text.length);
      return Buffer.from(text, 'base64').toString('latin1');
    },
    importPublicKey: ({ scope }, args) => {
      const der = Buffer.from(check.text(args, 1), 'latin1').subarray(0, check.integer(args, 2));
      return new PublicKeyObject(keys, scope, der);
    },
    verifySignature: (_self, args) => verifySignature(maker, args),
  };
}

function timeMethods({ check, state }: MethodMaker): Members {
  return {
    timestamp: ({ side }, args) => {
      const resolution = args[1] === undefined ? MILLISECOND : args[1];
      if (resolution !== MILLISECOND) {
        throw state.hostFailure('timestamp format must be MILLISECOND.');
      }
      return Math.floor(side.parts.wallUs() / 1000);
    },
    timestampString: ({ side }, args) => {
      const resolution = args[1] === undefined ? MILLISECOND : Number(args[1]);
      if (resolution === MILLISECOND) return String(Math.floor(side.parts.wallUs() / 1000));
      if (resolution === MICROSECOND) return String(Math.floor(side.parts.wallUs()));
      check.any(args, 1);
      throw state.hostFailure('timestamp format must be MILLISECOND or MICROSECOND.');
    },
  };
}

type WaitingMembers = NonNullable<
  Parameters<typeof MethodMaker.prototype.methods<StreamHandle>>[2]
>;

function waitingMethods(maker: MethodMaker): WaitingMembers {
  const { check, state } = maker;
  const wish = function* (wanted: Wish): Running {
    return (yield wanted) as LuaValue;
  };
  const bodyOpen = ({ side }: StreamHandle, method: string): void => {
    const problem = side.bodyProblem(method);
    if (problem !== undefined) throw state.hostFailure(problem);
  };
  return {
    *body(self, args) {
      bodyOpen(self, 'body');
      return yield* wish({ kind: 'body', wrapsNone: args[1] === true });
    },
    // oxlint-disable-next-line require-yield
    *bodyChunks(self) {
      bodyOpen(self, 'bodyChunks');
      return new LuaFunction(() => wish({ kind: 'chunk' }));
    },
    *trailers() {
      return yield* wish({ kind: 'trailers' });
    },
    *httpCall({ side }, args) {
      return yield* wish({ kind: 'call', call: readCall(maker, args, side.parts) });
    },
    *respond({ side }, args) {
      const table = check.table(args, 1);
      const body = args[2] === undefined ? '' : check.text(args, 2);
      const problem = side.respondProblem();
      if (problem !== undefined) throw state.hostFailure(problem);
      const headers = readHeaders(maker, table);
      const status = Number(headers.find(([name]) => name === ':status')?.[1][0] ?? NaN);
      if (!(Number.isInteger(status) && status >= 200 && status <= 599)) {
        throw state.hostFailure(':status must be between 200-599');
      }
      return yield* wish({ kind: 'respond', headers, status, body });
    },
  };
}
