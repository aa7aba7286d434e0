import type { ClientRequestOf, ClientResponseOf, CsiMethod } from '../csi/rpcs';
import { Code, type CodeName } from '../csi/status';

type StreamingMethod = 'GetMetadataAllocated' | 'GetMetadataDelta';

/** What a method answers when it is OK: one message, or all those of a stream. */
export type ResponseTo<M extends CsiMethod> = M extends StreamingMethod
  ? ClientResponseOf<M>[]
  : ClientResponseOf<M>;

/** Of a code that gRPC does not have: its number. */
export type AnswerCode = CodeName | 'OK' | `code ${number}`;

/** One call of a driver and everything that came back. */
export interface Answer<M extends CsiMethod = CsiMethod> {
  readonly method: M;
  readonly request: ClientRequestOf<M>;
  readonly code: AnswerCode;
  /** Sentence of an answer that is not OK. */
  readonly message: string;
  /** Names of the trailers. */
  readonly trailers: readonly string[];
  /** Of an answer that is OK; of a stream also what came before it failed. */
  readonly response: ResponseTo<M> | undefined;
}

export function codeOf(number: number): AnswerCode {
  return number === 0 ? 'OK' : ((Code[number] as CodeName | undefined) ?? `code ${number}`);
}

/** `NodeStageVolume INVALID_ARGUMENT "volume_id: …"`. */
export function answerText({ code, message }: Pick<Answer, 'code' | 'message'>): string {
  return code === 'OK' ? 'OK' : `${code} ${JSON.stringify(shortened(message, 300))}`;
}

/** A call on one line, without secrets. */
export function callText(method: CsiMethod, request: object): string {
  const shown = JSON.stringify(request, (key, value: unknown) => {
    if (key === 'secrets') return undefined;
    if (typeof value === 'string') return shortened(value, 80);
    return typeof value === 'bigint' ? `${value}` : value;
  });
  return `${method} ${shortened(shown, 600)}`;
}

function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}
