/** What a filter chain that serves HTTP says of a request that somebody asks about. */
import type { Explanation } from '../../shared/explain/explanation.ts';
import type { Steps } from '../loop/sliced-work.ts';
import type { HeaderMap } from './header-map.ts';
import type { StreamInfo } from './stream-info.ts';

/** What is known from the connection manager on. */
export type ExplainedStream = Omit<Explanation, 'listener' | 'filterChain'>;

/** Changes the headers and the info as a request's are changed on its way; nothing is counted. */
export type ExplainStream = (headers: HeaderMap, info: StreamInfo) => Steps<ExplainedStream>;
