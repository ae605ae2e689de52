function [trouble, varargout] = ss_guard(f, varargin)
% ss_guard  Calls a function of the user from inside the toolbox; not for direct use.
%
% [trouble, y] = ss_guard(f, x) is y = f(x). What f throws is returned as trouble, a
% struct for rethrow, so that the library can undo the step that it was in; else trouble is [].
  trouble = [];
  varargout = cell(1, nargout - 1);
  try
    if nargout <= 1
      feval(f, varargin{:});
    else
      [varargout{:}] = feval(f, varargin{:});
    end
  catch e
    trouble = struct('message', e.message, 'identifier', e.identifier, 'stack', e.stack);
  end
end
