package admin;

import de.codecentric.boot.admin.server.config.EnableAdminServer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** The Spring Boot Admin server as it comes. A password in its configuration makes it ask for one. */
@SpringBootApplication
@EnableAdminServer
public class Admin {
  public static void main(String[] arguments) {
    SpringApplication.run(Admin.class, arguments);
  }

  @Bean
  SecurityFilterChain security(HttpSecurity http, @Value("${spring.security.user.password:}") String password)
      throws Exception {
    http.csrf(csrf -> csrf.ignoringRequestMatchers("/instances", "/instances/**", "/applications/**"));
    if (password.isEmpty()) {
      http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll());
    } else {
      http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated()).httpBasic(Customizer.withDefaults());
    }
    return http.build();
  }
}
