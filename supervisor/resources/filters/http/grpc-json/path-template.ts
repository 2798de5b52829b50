/**
 * Reads path templates of `google.api.http`: `/v1/{name=shelves/*}/books/**:verb`. Source: the grammar in
 * google/api/http.proto.
 */
import type { PathVariable } from '../../../../../shared/resources/filters/http/grpc-json-transcoder.ts';

export interface PathTemplate {
  readonly segments: readonly string[];
  readonly customVerb: string;
  readonly variables: readonly PathVariable[];
}

const LITERAL = /^[^/{}=*:]+$/;
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const VERB = /:([^/:{}]+)$/;
const TEMPLATE_LENGTH_MAX = 4096;

interface OpenVariable {
  readonly field: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Undefined for a template that breaks the grammar. */
export function parseTemplate(text: string): PathTemplate | undefined {
  if (!text.startsWith('/') || text.length > TEMPLATE_LENGTH_MAX) return undefined;
  const verb = VERB.exec(text);
  const path = text.slice(1, verb === null ? undefined : verb.index);
  const segments: string[] = [];
  const open: OpenVariable[] = [];
  for (const part of splitOutsideBraces(path)) {
    if (!part.startsWith('{')) {
      if (!isSegment(part)) return undefined;
      segments.push(part);
      continue;
    }
    const inner = part.endsWith('}') ? part.slice(1, -1) : '';
    const [field = '', ...rest] = inner.split('=');
    const own = rest.length === 0 ? ['*'] : rest.join('=').split('/');
    if (!FIELD_PATH.test(field) || !own.every(isSegment)) return undefined;
    const start = segments.length;
    segments.push(...own);
    open.push({ field: field.split('.'), start, end: segments.length });
  }
  const rest = segments.indexOf('**');
  if (rest >= 0 && segments.lastIndexOf('**') !== rest) return undefined;
  const variables = open.map(({ field, start, end }) => ({
    field,
    start,
    // Behind `**` positions are known from the end only.
    end: rest >= 0 && end > rest ? end - segments.length - 1 : end,
    isMultiple: end - start > 1 || segments[start] === '**',
  }));
  return { segments, customVerb: verb?.[1] ?? '', variables };
}

function isSegment(text: string): boolean {
  return text === '*' || text === '**' || LITERAL.test(text);
}

function splitOutsideBraces(path: string): readonly string[] {
  return path.match(/\{[^{}]*\}|[^/{}]+/g) ?? [];
}
