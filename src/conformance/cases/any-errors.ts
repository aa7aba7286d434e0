import { type CsiMethod, methods } from '../../csi/rpcs';
import { Code } from '../../csi/status';
import type { Answer } from '../answer';
import { casesOf } from '../case';
import { minimal } from '../minimal';
import type { Probe } from '../probe';

/** The refusals of every method that is served: of a request with nothing in it, and of one about things that are not there. */
async function refusals(probe: Probe): Promise<Answer[]> {
  const found: Answer[] = [];
  for (const method of methods)
    for (const request of [{}, minimal[method]]) {
      const answer = (await probe.send(method, request)) as Answer;
      if (answer.code !== 'OK') found.push(answer);
    }
  if (found.length === 0) probe.skip('nothing was refused');
  return found;
}

const closed = (probe: Probe): CsiMethod[] => methods.filter((method) => !probe.serves(method));

export const anyErrors = casesOf('(any)', [
  {
    id: 'T01',
    level: 'must',
    section: 'Error Scheme',
    title: 'an RPC whose capability is not advertised: UNIMPLEMENTED, before any other check',
    run: async (probe) => {
      if (closed(probe).length === 0) probe.skip('every capability is advertised');
      for (const method of closed(probe))
        for (const request of [{}, minimal[method]])
          probe.isRefused((await probe.send(method, request)) as Answer, 'UNIMPLEMENTED', 'not advertised');
    },
  },
  {
    id: 'T02',
    level: 'must',
    section: 'Error Scheme',
    title: 'every refusal has a sentence for a person',
    run: async (probe) => {
      for (const { method, request, code, message } of await refusals(probe))
        if (!/\S+\s+\S+/.test(message))
          throw probe.failure(
            'a sentence with the refusal',
            `${code} ${JSON.stringify(message)}`,
            method,
            request,
          );
    },
  },
  {
    id: 'T03',
    level: 'must',
    section: 'Error Scheme',
    title: 'no refusal has details (the trailer grpc-status-details-bin)',
    run: async (probe) => {
      for (const { method, request, code, trailers } of await refusals(probe))
        if (trailers.includes('grpc-status-details-bin'))
          throw probe.failure('no details', `${code} with grpc-status-details-bin`, method, request);
    },
  },
  {
    id: 'T04',
    level: 'must',
    section: 'Error Scheme',
    title: 'every refusal has one of the sixteen codes that gRPC has',
    run: async (probe) => {
      for (const { method, request, code } of await refusals(probe))
        if (!Object.hasOwn(Code, code)) throw probe.failure('a code of 1 to 16', code, method, request);
    },
  },
]);
