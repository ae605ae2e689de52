function x = projected_jacobi(problem, report)
% x = projected_jacobi(problem, report)   a first solver: all contacts at once, each as if it were alone
%
% problem.A, problem.b and the laws of its unknowns are described by help ss_problem. All rows of a contact take one
% step length, so that the projection onto its cone is the right one; the sum of the rows keeps the sum of all steps
% from overshooting. Try it: ss_solve(frame, @projected_jacobi, 'stop', 'energy<1e-9')
  A = problem.A;
  x = problem.x0;
  first = problem.blocks.first;
  last = first + problem.blocks.size - 1;
  step = zeros(size(x));
  for i = 1:numel(first)
    rows = first(i):last(i);
    step(rows) = 1 / max(sum(abs(A(rows, :)), 2));
  end
  go_on = true;
  while go_on
    w = A * x + problem.b;
    w = w + de_saxce(problem, w, first, last);
    x = ss_project(problem, x - step .* w);
    go_on = report(x);
  end
end

% Coulomb's law is not a projection of w itself: sliding adds mu |w_T| to the normal velocity.
function extra = de_saxce(problem, w, first, last)
  extra = zeros(size(w));
  cones = find(strcmp(problem.blocks.law, 'cone'))';
  for i = cones
    extra(first(i)) = problem.blocks.mu(i) * norm(w(first(i) + 1:last(i)));
  end
end
