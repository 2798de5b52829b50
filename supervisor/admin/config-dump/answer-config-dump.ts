/**
 * `/config_dump`: everything that is configured, redacted, whole or narrowed by `resource`, `mask`
 * and `name_regex`. Elements are made, redacted and printed one at a time while the page is sent.
 */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { AdminContext, AdminResponse } from '../admin-context.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { JSON_TYPE } from '../http/responses.ts';
import { quoteJson } from '../../../shared/json/quote-json.ts';
import { printJsonAt } from '../json-printer.ts';
import type { MessageTypes } from '../message-types.ts';
import { typeUrlOf } from '../message-types.ts';
import type { NameMatcher } from '../name-matcher.ts';
import { compileNameMatcher } from '../name-matcher.ts';
import { DUMP_PACKAGE, dumpSections } from './dump-sections.ts';
import type { DumpItem, DumpSection } from './dump-sections.ts';
import { applyMask, describeMask, isValidPath, parseMask, treeOf, trim } from './field-mask.ts';
import { filterLazily, mapLazily } from './lazy-list.ts';
import { printFields } from './print-fields.ts';
import { redact } from './redact.ts';

export function answerConfigDump(
  request: EndpointRequest,
  context: AdminContext,
  types: MessageTypes,
): AdminResponse {
  const { query } = request;
  const pattern = query.nonEmpty('name_regex');
  const compiled = pattern === undefined ? undefined : compileNameMatcher(pattern);
  if (compiled?.ok === false) {
    const text = `INVALID_ARGUMENT: Error while parsing name_regex from ${pattern}: ${compiled.reason}`;
    return { status: 400, contentType: 'text/plain', body: text };
  }
  const sections = dumpSections(context, { includeEndpoints: query.has('include_eds') });
  const paths = parseMask(query.nonEmpty('mask') ?? '');
  const named = narrowByName(sections, compiled?.matcher);
  const resource = query.nonEmpty('resource');
  return resource === undefined
    ? answerAll(types, named, paths)
    : answerResource(types, named, { resource, paths });
}

// The mask is checked against every section before the first byte: it may fit none of them.
function answerAll(
  types: MessageTypes,
  sections: readonly DumpSection[],
  paths: readonly string[],
): AdminResponse {
  const masked = paths.length === 0 ? sections : maskSections(types, sections, paths);
  if (masked.length === 0) {
    return refusal(
      `FieldMask ${paths.join(',')} could not be successfully applied to any configs.`,
    );
  }
  return jsonBody(printSections(types, masked));
}

function answerResource(
  types: MessageTypes,
  sections: readonly DumpSection[],
  wanted: { readonly resource: string; readonly paths: readonly string[] },
): AdminResponse {
  const { resource, paths } = wanted;
  for (const section of sections) {
    const list = section.lists.find(({ field }) => field === resource);
    if (list !== undefined) {
      const elementType = `${DUMP_PACKAGE}.${section.type}.${list.element}`;
      const elements = maskElements(types, list.items, { elementType, paths });
      return elements === undefined
        ? refusal(`FieldMask ${describeMask(paths)} could not be successfully used.`)
        : jsonBody(printElements(elements));
    }
    const type = types.find(`${DUMP_PACKAGE}.${section.type}`);
    if (type !== undefined && types.field(type, resource) !== undefined) {
      return refusal(
        `${resource} is not a repeated field. Use ?mask=${resource} to get only this field`,
      );
    }
  }
  return refusal(`${resource} not found in config dump`, 404);
}

function narrowByName(
  sections: readonly DumpSection[],
  matcher: NameMatcher | undefined,
): readonly DumpSection[] {
  if (matcher === undefined) return sections;
  return sections.map((section) => ({
    ...section,
    lists: section.lists.map((list) => ({
      ...list,
      items: namedItems(list.items, matcher),
    })),
  }));
}

function namedItems(items: Iterable<DumpItem>, matcher: NameMatcher): Iterable<DumpItem> {
  const isShown = ({ name, namesIn, makeUnasked }: DumpItem): boolean =>
    namesIn !== undefined || makeUnasked !== undefined || matcher.matches(name);
  return mapLazily(filterLazily(items, isShown), (item) => {
    const { name, namesIn, makeUnasked } = item;
    if (namesIn !== undefined) return narrowWithin(item, namesIn, matcher);
    return makeUnasked === undefined || matcher.matches(name)
      ? item
      : { ...item, make: makeUnasked };
  });
}

/** Keeps the element and drops what is in its list under another name, as the reference does. */
function narrowWithin(item: DumpItem, field: string, matcher: NameMatcher): DumpItem {
  const make = (): JsonObject => {
    const { [field]: list, ...others } = item.make();
    const kept = (Array.isArray(list) ? (list as readonly JsonObject[]) : []).filter(
      ({ name }) => typeof name === 'string' && matcher.matches(name),
    );
    return kept.length === 0 ? others : { ...item.make(), [field]: kept };
  };
  return { ...item, make };
}

function maskSections(
  types: MessageTypes,
  sections: readonly DumpSection[],
  paths: readonly string[],
): DumpSection[] {
  const tree = treeOf(paths);
  return sections
    .filter((section) =>
      paths.every((path) =>
        isValidPath(types, `${DUMP_PACKAGE}.${section.type}`, section.fields, path.split('.')),
      ),
    )
    .map((section) => ({
      ...section,
      fields: trim(section.fields, tree),
      lists: section.lists.filter(({ field }) => tree[field] !== undefined),
    }));
}

/**
 * Undefined when the mask does not fit the elements, which the first one tells for all. Elements are
 * made when they are pulled.
 */
function maskElements(
  types: MessageTypes,
  items: Iterable<DumpItem>,
  wanted: { readonly elementType: string; readonly paths: readonly string[] },
): Iterable<JsonObject> | undefined {
  const { elementType, paths } = wanted;
  const typeUrl = typeUrlOf(elementType);
  const elementOf = (item: DumpItem): JsonObject | undefined => {
    const message = redact(types, elementType, item.make());
    return paths.length === 0 ? message : applyMask(types, elementType, message, paths);
  };
  const [first] = items;
  if (first !== undefined && elementOf(first) === undefined) return undefined;
  function* elements(): Generator<JsonObject> {
    for (const item of items) yield { '@type': typeUrl, ...elementOf(item) };
  }
  return elements();
}

function* printElements(elements: Iterable<JsonObject>): Generator<string> {
  let isFirst = true;
  for (const element of elements) {
    yield `${isFirst ? '{\n "configs": [\n  ' : ',\n  '}${printJsonAt(element, 2)}`;
    isFirst = false;
  }
  yield isFirst ? '{}\n' : '\n ]\n}\n';
}

function* printSections(types: MessageTypes, sections: readonly DumpSection[]): Generator<string> {
  let opening = '{\n "configs": [\n  ';
  for (const section of sections) {
    const typeName = `${DUMP_PACKAGE}.${section.type}`;
    yield `${opening}{\n   "@type": ${quoteJson(typeUrlOf(typeName))}`;
    opening = ',\n  ';
    yield* printFields(types, { typeName, depth: 3, separator: ',\n' }, section.fields);
    for (const list of section.lists) {
      const opening = `,\n   ${quoteJson(list.field)}: [\n    `;
      let separator = opening;
      for (const item of list.items) {
        const element = redact(types, `${typeName}.${list.element}`, item.make());
        yield `${separator}${printJsonAt(element, 4)}`;
        separator = ',\n    ';
      }
      if (separator !== opening) yield '\n   ]';
    }
    yield '\n  }';
  }
  yield '\n ]\n}\n';
}

function jsonBody(body: Iterable<string>): AdminResponse {
  return { status: 200, contentType: JSON_TYPE, body };
}

// The reference says nosniff twice here, and leaves the character set out.
function refusal(text: string, status = 400): AdminResponse {
  return {
    status,
    contentType: 'text/plain',
    headers: { 'x-content-type-options': ['nosniff', 'nosniff'] },
    body: text,
  };
}
