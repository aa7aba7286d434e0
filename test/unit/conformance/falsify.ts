import type { Answer, AnswerCode, ResponseTo } from '../../../src/conformance/answer';
import type { Connection, SendOptions } from '../../../src/conformance/connection';
import { type ClientRequestOf, type CsiMethod, rpcs } from '../../../src/csi/rpcs';
import { definitions } from '../../support/driver';

/** One call on its way to an honest driver. */
export interface Call<M extends CsiMethod> {
  readonly request: ClientRequestOf<M>;
  readonly options: SendOptions;
  /** The honest answer, to this request or to another one. */
  next(changed?: object): Promise<Answer<M>>;
  ok(response?: object): Answer<M>;
  refuse(code: AnswerCode, message?: string, trailers?: string[]): Answer<M>;
  /** The honest answer, changed when it is OK. */
  edit(change: (response: ResponseTo<M>) => object): Promise<Answer<M>>;
}

/** What a driver does wrong, by method. */
export type Falsified = {
  readonly [M in CsiMethod]?: (call: Call<M>) => Answer<M> | Promise<Answer<M>>;
};

interface Codec {
  responseSerialize(message: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

/** An honest connection behind one that lies as it is told. */
export function falsify(honest: Connection, lies: Falsified): Connection {
  return {
    send<M extends CsiMethod>(method: M, request: ClientRequestOf<M>, options: SendOptions) {
      const lie = lies[method] as ((call: Call<M>) => Answer<M> | Promise<Answer<M>>) | undefined;
      if (!lie) return honest.send(method, request, options);
      const made = (code: AnswerCode, message: string, trailers: string[], response?: ResponseTo<M>) => ({
        method,
        request,
        code,
        message,
        trailers,
        response,
      });
      const next = (changed: object = {}) =>
        honest.send(method, { ...request, ...changed } as ClientRequestOf<M>, options);
      const ok = (response: object = {}) => made('OK', '', [], decoded(method, response));
      return Promise.resolve(
        lie({
          request,
          options,
          next,
          ok,
          refuse: (code, message = 'a sentence of a driver', trailers = []) => made(code, message, trailers),
          edit: async (change) => {
            const answer = await next();
            return answer.response === undefined || answer.code !== 'OK'
              ? answer
              : ok(change(answer.response));
          },
        }),
      );
    },
    close: () => honest.close(),
  };
}

/** As it would come from the wire, with every default. */
function decoded<M extends CsiMethod>(method: M, response: object): ResponseTo<M> {
  const codec = (definitions()[rpcs[method].service as 'Node'] as unknown as Record<string, Codec>)[method];
  const one = (message: object) => codec?.responseDeserialize(codec.responseSerialize(message)) ?? {};
  return (Array.isArray(response) ? response.map(one) : one(response)) as ResponseTo<M>;
}
