function mu = rpisim_mu(sim, a, b)
% rpisim_mu  Friction between two bodies, by the rule of the simulation. Infinite friction is 1e6 in matrices.
  product = sim.bodies(a).mu * sim.bodies(b).mu;
  if strcmp(sim.friction_rule, 'geometric')
    mu = sqrt(product);
  else
    mu = 0.5 * product;
  end
  mu = min(mu, 1e6);
end
