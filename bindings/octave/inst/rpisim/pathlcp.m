function [z, mu] = pathlcp(M, q, l, u, z, varargin)
% [z, mu] = pathlcp(M, q, l, u, z)   a linear complementarity problem with bounds l <= z <= u, [0, Inf] unless given
%
% Solved by the solver 'path' of the library, not by the program PATH. As with that one, failing is an error. Additional
% polyhedral constraints (A, b, t) are not supported. mu is M z + q.
%
% Example:
%   z = pathlcp([2 1; 1 2], [-1; -1]);
%
% See also lemke, ss_solve
  n = numel(q);
  if nargin > 5
    error('stickslip:usage', 'pathlcp: polyhedral constraints are not supported');
  end
  problem = struct();
  problem.A = sparse(M);
  problem.b = q(:);
  problem.lower = zeros(n, 1);
  problem.upper = Inf(n, 1);
  if nargin > 2 && ~isempty(l)
    problem.lower = l(:);
  end
  if nargin > 3 && ~isempty(u)
    problem.upper = u(:);
  end
  options = struct('stop', 'relative_energy<1e-10');
  if nargin > 4 && ~isempty(z)
    options.guess = z(:);
  end
  result = ss_solve(problem, 'path', options);
  if ~result.converged
    error('stickslip:usage', 'pathlcp: %s', result.status);
  end
  z = result.x;
  mu = M * z + q(:);
end
