function [x, err, iter, flag] = rpisim_num4lcp(name, A, b, x0, max_iter, tol_rel, varargin)
% rpisim_num4lcp  a solver of the library behind the arguments and results of num4lcp's functions; see pgs.
  if nargin < 4
    x0 = [];
  end
  if nargin < 5 || isempty(max_iter)
    max_iter = max(100, floor(numel(b) / 2));
  end
  if nargin < 6 || isempty(tol_rel)
    tol_rel = 1e-4;
  end
  [x, result] = rpisim_lcp(name, A, b, x0, max_iter, tol_rel);
  err = 0.5 * norm(min(x, A * x + b(:))) ^ 2;
  iter = result.iterations;
  flag = 3 + 5 * double(~result.converged);
end
