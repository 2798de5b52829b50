/**
 * The runtime counts the memory of an HTTP/2 session, and ends the process where some is left when
 * the session is collected. Fields of a header block that broke off belong to a stream, and a stream
 * that still had bytes on its socket is collected later than it ends: with its session, in any order.
 * So a session's memory is held here until that of its streams has gone.
 */
import type { connect as connectSession, Http2Session, Http2Stream } from 'node:http2';

interface Http2Module {
  readonly connect: typeof connectSession;
}

/** Its held values are the sessions' own objects of the runtime. */
const sessions = new FinalizationRegistry<object>(() => undefined);
const prepared = new WeakSet<object>();

/** The module, whose clients hold their sessions; other libraries that use it get the same. */
export function http2Module(): Http2Module {
  const http2 = process.getBuiltinModule('node:http2');
  if (prepared.has(http2)) return http2;
  prepared.add(http2);
  const { connect } = http2;
  const holding = (...args: Parameters<typeof connect>): ReturnType<typeof connect> => {
    const session = connect(...args);
    const request = session.request.bind(session);
    session.request = (...asked) => {
      const stream = request(...asked);
      // Before it is ready it has no memory.
      if (stream.pending) stream.once('ready', () => holdSession(stream, session));
      else holdSession(stream, session);
      return stream;
    };
    return session;
  };
  Object.assign(http2, { connect: holding });
  return http2;
}

/** For streams of servers, which come from their session. */
export function holdSession(stream: Http2Stream, session: Http2Session): void {
  const ofStream = handleOf(stream);
  const ofSession = handleOf(session);
  if (ofStream !== undefined && ofSession !== undefined) sessions.register(ofStream, ofSession);
}

/** What the runtime has behind an object; undefined where it has none, or is another one. */
function handleOf(owner: object): object | undefined {
  const symbol = Object.getOwnPropertySymbols(owner).find(
    ({ description }) => description === 'kHandle',
  );
  const handle: unknown = symbol === undefined ? undefined : Reflect.get(owner, symbol);
  return typeof handle === 'object' && handle !== null ? handle : undefined;
}
