/** Compiles path rewrites of routes and redirects. The query is kept as it is. */
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import type { PathMatch, PathRewrite } from '../../shared/resources/routes/route.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat } from '../substitution/compile-format.ts';
import { compilePathTemplate, fillPathTemplate } from './path-template.ts';

/** A path with query to the rewritten one; undefined: it stays, and nothing tells of a rewrite. */
export type PathRewriter = (path: string, info: StreamInfo) => string | undefined;

/** The rewrite of a path that `match` has matched. */
export function compilePathRewrite(rewrite: PathRewrite, match: PathMatch): PathRewriter {
  switch (rewrite.kind) {
    case 'prefix':
      return rewritePrefix(rewrite.value, match);
    case 'regex': {
      const runner = makeRegexRunner(rewrite.regex);
      return onPathAlone((path) => runner.replaceAll(path, rewrite.substitution));
    }
    case 'template': {
      if (match.kind !== 'template') return (path) => path;
      const template = compilePathTemplate(match.template);
      return onPathAlone((path) => {
        const parts = template.parts(path);
        return parts === undefined ? path : fillPathTemplate(rewrite.template, parts);
      });
    }
    case 'format': {
      const format = compileTextFormat(rewrite.format, { omitEmptyValues: true });
      return (path, info) => {
        const formatted = format(info);
        return formatted === '' ? undefined : formatted + queryOf(path);
      };
    }
  }
}

/** With its question mark. */
function queryOf(path: string): string {
  const mark = path.indexOf('?');
  return mark < 0 ? '' : path.slice(mark);
}

/**
 * What a prefix rewrite replaces: the matched prefix, or the whole path where no prefix is known.
 */
function rewritePrefix(replacement: string, match: PathMatch): PathRewriter {
  if (match.kind === 'prefix' || match.kind === 'path_separated_prefix' || match.kind === 'path') {
    const { length } = match.value;
    return (path) => replacement + path.slice(length);
  }
  return onPathAlone(() => replacement);
}

function onPathAlone(rewrite: (path: string) => string): PathRewriter {
  return (path) => {
    const mark = path.indexOf('?');
    return mark < 0 ? rewrite(path) : rewrite(path.slice(0, mark)) + path.slice(mark);
  };
}
