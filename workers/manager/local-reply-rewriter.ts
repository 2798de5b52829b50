/**
 * Rewords the answers that are made here, as a connection manager's `local_reply_config` says: the
 * first mapper that fits may change status, body and headers, then a format writes the body.
 */
import type { HeaderChanges } from '../../shared/resources/routes/headers.ts';
import type {
  LocalReplyFormat,
  LocalReplyMapper,
  LocalReplyOptions,
} from '../../shared/resources/local-reply.ts';
import { compileLogFilter, type LogPredicate } from '../access-log/log-filter.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import type { Runtime } from '../loop/runtime.ts';
import { compileLineFormat, type Formatter } from '../substitution/compile-format.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { LocalReplyRewriter, WordedReply } from '../filter-chain/local-reply.ts';
import { JOINED_IN_RESPONSES } from '../stream/joined-headers.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

interface CompiledFormat {
  readonly write: Formatter;
  readonly contentType: string | undefined;
}

interface CompiledMapper {
  readonly mapper: LocalReplyMapper;
  readonly fits: LogPredicate;
  readonly changeHeaders: HeaderMutation | undefined;
  readonly format: CompiledFormat | undefined;
}

export function compileLocalReplies(
  options: LocalReplyOptions,
  runtime: Runtime,
): LocalReplyRewriter {
  const mappers = options.mappers.map((mapper) => compileMapper(mapper, runtime));
  const common = options.bodyFormat && compileFormat(options.bodyFormat);
  return (headers, reply, info) => {
    info.responseCode = headers.status;
    info.responseHeaders = headers;
    const mapped = mappers.find(({ fits }) => fits(info));
    if (mapped !== undefined) applyMapper(mapped, headers, reply, info);
    const format = mapped?.format ?? common;
    if (format === undefined) return;
    info.localReplyBody = reply.body;
    reply.body = format.write(info);
    info.localReplyBody = '';
    const isTyped = mapped?.mapper.headers.some(({ name }) => name === 'content-type') === true;
    if (format.contentType !== undefined && !isTyped) reply.contentType = format.contentType;
  };
}

function applyMapper(
  { mapper, changeHeaders }: CompiledMapper,
  headers: HeaderMap,
  reply: WordedReply,
  info: StreamInfo,
): void {
  if (mapper.body !== undefined) reply.body = mapper.body;
  changeHeaders?.(headers, info);
  if (mapper.status === undefined) return;
  headers.status = mapper.status;
  info.responseCode = mapper.status;
}

function compileMapper(mapper: LocalReplyMapper, runtime: Runtime): CompiledMapper {
  const changes: HeaderChanges = { add: mapper.headers, remove: [] };
  return {
    mapper,
    fits: compileLogFilter(mapper.filter, runtime),
    changeHeaders: compileHeaderMutations([changes], JOINED_IN_RESPONSES),
    format: mapper.bodyFormat && compileFormat(mapper.bodyFormat),
  };
}

function compileFormat({ format, contentType }: LocalReplyFormat): CompiledFormat {
  const write = compileLineFormat(format);
  return {
    write,
    contentType: contentType ?? (format.kind === 'json' ? 'application/json' : undefined),
  };
}
