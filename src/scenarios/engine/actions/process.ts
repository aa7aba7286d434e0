import type { Perform } from './action';

export const process: Perform<'process'> = async ({ act }, { fire, call, process: control }) => {
  switch (act.kind) {
    case 'exit':
      call.effect(`process ended with ${act.code} by ${fire.state.name}`);
      return control.exit(act.code);
    case 'stop':
      call.effect(`process stopped for ${act.forMs} ms by ${fire.state.name}`);
      return control.stopFor(act.forMs);
    case 'closeSocket':
      call.effect(`socket closed by ${fire.state.name}`);
      return control.closeSocket(act.forMs);
  }
};
