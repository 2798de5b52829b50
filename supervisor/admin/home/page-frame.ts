/**
 * What every HTML page of the admin has in common: its head, its policy, its error without pages.
 */
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { HTML, textResponse } from '../http/responses.ts';
import { loadPageAssets } from './page-assets.ts';

export interface PageParts {
  /** HTML within `<body>`, in chunks. */
  readonly content: Iterable<string>;
  readonly hasScript: boolean;
  /** Further elements of `<head>`. */
  readonly head?: string;
}

export function htmlPage(parts: PageParts): AdminResponse {
  const assets = loadPageAssets();
  if (assets === undefined) {
    return textResponse('HTML output was disabled by building with SLUICE_ADMIN_HTML=disabled\n');
  }
  function* body(style: string, script: string): Generator<string> {
    // With no-referrer a browser would send `Origin: null` with the page's own forms, which is
    // refused.
    yield (
      `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n` +
      `<meta name="viewport" content="width=device-width, initial-scale=1">\n` +
      `<meta name="referrer" content="same-origin">\n${parts.head ?? ''}` +
      `<title>Sluice Admin</title>\n<link rel="icon" href="data:,">\n` +
      `<style>${style}</style>\n</head>\n<body>\n<main>\n`
    );
    yield* parts.content;
    yield `</main>\n${parts.hasScript ? `<script>${script}</script>\n` : ''}</body>\n</html>\n`;
  }
  return {
    status: 200,
    contentType: HTML,
    headers: { 'content-security-policy': assets.policy },
    body: body(assets.style, assets.script),
  };
}
