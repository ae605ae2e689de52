function [z, result] = rpisim_lcp(name, A, b, z0, iterations, below)
% rpisim_lcp  0 <= z, A z + b >= 0, z' (A z + b) = 0 by a solver of the library, until its relative energy error is below
% the last argument.
  n = numel(b);
  problem = struct();
  problem.A = sparse(A);
  problem.b = b(:);
  problem.lower = zeros(n, 1);
  problem.upper = Inf(n, 1);
  options = struct('stop', sprintf('relative_energy<%.17g', below));
  if ~isempty(iterations)
    options.iterations = iterations;
  end
  if ~isempty(z0)
    options.guess = z0(:);
  end
  result = ss_solve(problem, name, options);
  if strcmp(result.status, 'not applicable')
    error('stickslip:usage', '%s is not applicable to this LCP: it %s', name, result.notes);
  end
  z = result.x;
end
